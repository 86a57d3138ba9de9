// A whole scheduler with Licences inside.
#include <berth/command.h>

#include "licences.h"

int main(int argc, char** argv) {
  return berth::SchedulerCommand().WithPlugin("Licences", example::Licences::Create).Run(argc, argv);
}
