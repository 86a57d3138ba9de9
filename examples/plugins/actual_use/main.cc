// A whole scheduler with ActualUse inside.
#include <berth/command.h>

#include "actual_use.h"

int main(int argc, char** argv) {
  return berth::SchedulerCommand().WithPlugin("ActualUse", example::ActualUse::Create).Run(argc, argv);
}
