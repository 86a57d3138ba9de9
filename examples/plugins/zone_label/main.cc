// A whole scheduler with ZoneLabel inside.
#include <berth/command.h>

#include "zone_label.h"

int main(int argc, char** argv) {
  return berth::SchedulerCommand().WithPlugin("ZoneLabel", example::ZoneLabel::Create).Run(argc, argv);
}
