// A whole scheduler with DeadlineSort inside.
#include <berth/command.h>

#include "deadline_sort.h"

int main(int argc, char** argv) {
  return berth::SchedulerCommand().WithPlugin("DeadlineSort", example::DeadlineSort::Create).Run(argc, argv);
}
