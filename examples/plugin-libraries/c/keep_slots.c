/* KeepSlots: leaves some pod slots free on every node, for what must always find room (a debugging pod, say).
 *
 *     pluginConfig: [{name: KeepSlots, args: {slots: 3}}]
 *
 * Pods with the label keep-slots=ignore may use them. */
#include <berth_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) ((berth_string){(literal), sizeof(literal) - 1})

typedef struct {
  int64_t slots;
  uint8_t none_left; /* the verdict for nodes without a slot to spare */
} keep_slots;

static const berth_host* host;

static int may_use_all(const berth_pod* pod) {
  const berth_string label = host->pod_label(pod, TEXT("keep-slots"));
  return label.size == 6 && memcmp(label.data, "ignore", 6) == 0;
}

static berth_code init(berth_instance* instance, const char* args, void** self) {
  keep_slots* plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) return BERTH_ERROR;
  plugin->slots = 1;
  /* Enough for one number; a plugin with more arguments wants a JSON parser. */
  const char* slots = strstr(args, "\"slots\"");
  if (slots != NULL && (sscanf(slots, "\"slots\" : %ld", &plugin->slots) != 1 || plugin->slots < 0)) {
    free(plugin);
    host->say_init(instance, TEXT("args.slots: expected a number, 0 or more"));
    return BERTH_ERROR;
  }
  char reason[64];
  const int length = snprintf(reason, sizeof reason, "node(s) must keep %ld pod slot(s) free", plugin->slots);
  plugin->none_left = host->add_reason(instance, BERTH_UNSCHEDULABLE, (berth_string){reason, (size_t)length});
  *self = plugin;
  return BERTH_SUCCESS;
}

/* All that the filter reads from a pod: pods that agree on it share its answers. */
static berth_code sign(void* self, berth_call* call) {
  (void)self;
  host->add_to_signature(call, TEXT("keep-slots"), may_use_all(call->pod) ? TEXT("ignore") : TEXT(""));
  return BERTH_SUCCESS;
}

static berth_code filter(void* self, berth_call* call, const berth_nodes* nodes, uint8_t* verdicts) {
  const keep_slots* plugin = self;
  if (may_use_all(call->pod)) return BERTH_SUCCESS; /* verdicts are zeros already */
  for (uint32_t i = 0; i < nodes->count; ++i) {
    const int64_t left = nodes->allocatable_pods[i] - nodes->pod_count[i] - 1;
    verdicts[i] = left < plugin->slots ? plugin->none_left : 0;
  }
  return BERTH_SUCCESS;
}

/* What may make room: pods that go, nodes that come or grow. */
static const berth_event events[] = {
    {BERTH_POD, BERTH_DELETE},
    {BERTH_NODE, BERTH_ADD | BERTH_UPDATE_NODE_ALLOCATABLE},
};

static const berth_plugin_class keep_slots_class = {
    .size = sizeof(berth_plugin_class),
    .name = "KeepSlots",
    .filter_depends_on = BERTH_ON_NODE_AND_PODS,
    .events = events,
    .event_count = sizeof events / sizeof *events,
    .init = init,
    .destroy = free,
    .sign = sign,
    .filter = filter,
};

static const berth_plugin_class* const classes[] = {&keep_slots_class};

static const berth_plugin_library_table library = {
    .abi_version = BERTH_PLUGIN_ABI,
    .size = sizeof(berth_plugin_library_table),
    .classes = classes,
    .class_count = 1,
};

const berth_plugin_library_table* berth_plugin_library(const berth_host* given) {
  host = given;
  return &library;
}
