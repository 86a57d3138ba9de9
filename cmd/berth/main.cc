// berth: the scheduler with the plugins it comes with.
#include "berth/command.h"

int main(int argc, char** argv) { return berth::SchedulerCommand().Run(argc, argv); }
