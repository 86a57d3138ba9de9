/* A library of ABI 1 that refuses every other host, as libraries were free to do. */
#include <berth_plugin.h>

static berth_code filter(void* self, berth_call* call, const berth_nodes* nodes, uint8_t* verdicts) {
  (void)self;
  (void)call;
  (void)nodes;
  (void)verdicts;
  return BERTH_SUCCESS;
}

static const berth_plugin_class plugin = {.size = sizeof(berth_plugin_class), .name = "Picky", .filter = filter};
static const berth_plugin_class* const classes[] = {&plugin};
static const berth_plugin_library_table library = {
    .abi_version = BERTH_PLUGIN_ABI, .size = sizeof(library), .classes = classes, .class_count = 1};

const berth_plugin_library_table* berth_plugin_library(const berth_host* host) {
  return host->abi_version == 1 && host->size == sizeof(berth_host) ? &library : NULL;
}
