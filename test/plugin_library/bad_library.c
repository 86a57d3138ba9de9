/* One library for each way to be bad: cc -DFAULT_… picks it. Good but for that: it accepts every node. */
#include <berth_plugin.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT(literal) ((berth_string){(literal), sizeof(literal) - 1})

static const berth_host* host;
static uint8_t reason;

static void crash(void) { *(volatile int*)8 = 1; }
static void hang(void) {
  for (;;) pause();
}

static berth_code init(berth_instance* instance, const char* args, void** self) {
  (void)args;
  (void)self;
  reason = host->add_reason(instance, BERTH_UNSCHEDULABLE, TEXT("node(s) were not to its taste"));
#if defined(FAULT_CRASH_IN_INIT)
  crash();
#elif defined(FAULT_HANG_IN_INIT)
  hang();
#elif defined(FAULT_INIT_FAILS)
  host->say_init(instance, TEXT("args.color: expected one"));
  return BERTH_ERROR;
#endif
  return BERTH_SUCCESS;
}

static berth_code sign(void* self, berth_call* call) {
  (void)self;
  (void)call;
  return BERTH_SUCCESS;
}

static berth_code filter(void* self, berth_call* call, const berth_nodes* nodes, uint8_t* verdicts) {
  (void)self;
  (void)call;
  (void)nodes;
  (void)verdicts;
#if defined(FAULT_BAD_CODE)
  return 42;
#elif defined(FAULT_BAD_VERDICT)
  for (uint32_t i = 0; i < nodes->count; ++i) verdicts[i] = 77;
#elif defined(FAULT_CONTRADICTS)
  /* Rejects in company what it accepts alone. */
  for (uint32_t i = 0; i < nodes->count; ++i) verdicts[i] = nodes->count > 1 ? reason : 0;
#endif
  return BERTH_SUCCESS;
}

static berth_code score(void* self, berth_call* call, const berth_nodes* nodes, int64_t* scores) {
  (void)self;
  (void)call;
#if defined(FAULT_BAD_SCORE)
  for (uint32_t i = 0; i < nodes->count; ++i) scores[i] = INT64_MAX - i;
#else
  (void)nodes;
  (void)scores;
#endif
  return BERTH_SUCCESS;
}

#if defined(FAULT_ADD_WITHOUT_REMOVE) || defined(FAULT_ADD_WITHOUT_CLONE) || defined(FAULT_ADD_ON_NODE)
static berth_code pre_filter(void* self, berth_call* call) {
  (void)self;
  (void)call;
  return BERTH_SUCCESS;
}
static berth_code follow(void* self, berth_call* call, const berth_pod* other, const berth_nodes* node) {
  (void)self;
  (void)call;
  (void)other;
  (void)node;
  return BERTH_SUCCESS;
}
#endif
#if defined(FAULT_ADD_ON_NODE)
static void* clone_data(void* self, const void* data) {
  (void)self;
  (void)data;
  return NULL;
}
#endif

static const berth_plugin_class plugin = {
#if defined(FAULT_SMALL_CLASS)
    .size = 16,
#else
    .size = sizeof(berth_plugin_class),
#endif
#if defined(FAULT_NO_NAME)
    .name = "",
#elif defined(FAULT_DUPLICATE)
    .name = "NodeName",
#else
    .name = "Bad",
#endif
#if !defined(FAULT_ADD_WITHOUT_CLONE)
    .filter_depends_on = BERTH_ON_NODE_AND_PODS,
#endif
    .score_depends_on = BERTH_ON_NODE_AND_PODS,
#if defined(FAULT_OWN_RULE_MISSING)
    .normalization = BERTH_NORMALIZE_OWN,
#endif
    .init = init,
#if defined(FAULT_ADD_WITHOUT_REMOVE)
    .pre_filter = pre_filter,
    .add_pod = follow,
#elif defined(FAULT_ADD_WITHOUT_CLONE)
    .pre_filter = pre_filter,
    .add_pod = follow,
    .remove_pod = follow,
#elif defined(FAULT_ADD_ON_NODE)
    .pre_filter = pre_filter,
    .add_pod = follow,
    .remove_pod = follow,
    .clone_data = clone_data,
#endif
#if !defined(FAULT_NO_POINTS)
    .sign = sign,
    .filter = filter,
    .score = score,
#endif
};

static const berth_plugin_class* const classes[] = {&plugin};

static const berth_plugin_library_table library = {
#if defined(FAULT_OTHER_ABI)
    .abi_version = BERTH_PLUGIN_ABI + 1,
#else
    .abi_version = BERTH_PLUGIN_ABI,
#endif
#if defined(FAULT_SMALL_TABLE)
    .size = 8,
#else
    .size = sizeof(berth_plugin_library_table),
#endif
    .classes = classes,
#if !defined(FAULT_NO_PLUGINS)
    .class_count = 1,
#endif
};

#if defined(FAULT_NO_SYMBOL)
#define berth_plugin_library another_name
#endif
const berth_plugin_library_table* berth_plugin_library(const berth_host* given);

const berth_plugin_library_table* berth_plugin_library(const berth_host* given) {
  host = given;
#if defined(FAULT_CRASH_ON_LOAD)
  crash();
#elif defined(FAULT_HANG_ON_LOAD)
  hang();
#elif defined(FAULT_EXIT_ON_LOAD)
  exit(3);
#elif defined(FAULT_NULL_TABLE)
  return NULL;
#endif
  return &library;
}

/* Not every fault needs all of them. */
void (*const unused[])(void) = {crash, hang, (void (*)(void))sign, (void (*)(void))filter, (void (*)(void))score};
