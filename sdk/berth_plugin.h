/* Plugins for berth as shared objects: the whole contract, in plain C11. No other header of berth is needed, and
 * nothing is linked: a library exports one function, and everything it may call is passed to it.
 *
 *     cc -shared -fPIC -I sdk -o zone.so zone.c
 *     berth simulate --plugin-dir . …        or       pluginLibraries: [{path: zone.so}]
 *
 * LOADING. berth opens each library once and calls berth_plugin_library(), with ABI 1 twice. The result lists one or
 * more plugin classes, each a table of functions. For every profile that enables a class, `init` makes one instance.
 * Both the loading and each `init` are first tried in a child process, which is discarded: a library that crashes or
 * hangs there is rejected and berth continues. So both happen twice; neither should have effects outside its own
 * memory. A library is never closed.
 *
 * THREADS. Everything runs on the scheduling thread, one call at a time, except that `filter` and `score` of one pod
 * may be called from several threads at once. An instance may therefore change itself in `init`, `reserve`,
 * `unreserve`, `permit` and `destroy`; in other functions only with its own lock. Host functions may be called during a
 * call, on the thread of that call, with the arguments of that call.
 *
 * OWNERSHIP. Memory ownership is never transferred, with one exception (cycle data, below). What a library returns from
 * berth_plugin_library() must not change until the process ends. Everything that berth passes in (strings, arrays,
 * pods, nodes, calls) is valid until the function returns and must not be kept or written to, except for the two output
 * arrays. Strings passed to host functions are copied. Strings need not end in a zero byte unless they are `char*`.
 *
 * ERRORS. Functions return a berth_code. BERTH_ERROR, a code that the function may not return, an exception, or a
 * result out of range fails the pod that is being scheduled with an Error that names the plugin and the library: the
 * pod is tried again after a backoff. A signal such as SIGSEGV after `init` ends berth: the plugin runs in its process.
 *
 * VERSIONS. Every struct begins with its size as known to the side that made it. Fields are only ever added at the end,
 * and a field beyond `size` counts as zero; check `size` before reading a field that is newer than version 1.0 of this
 * header. BERTH_PLUGIN_ABI changes when a library must not be loaded by an older berth: one with add_pod would give
 * wrong results if nobody called it. This berth loads libraries of ABI 1 and 2; a library of ABI 1 gets a host that
 * reports version 1 and ends where that of version 1 did. What was added with ABI 2 is marked.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_PLUGIN_ABI 2u

/* The result of a function. The comments say what happens to the pod. */
typedef int32_t berth_code;
enum {
  BERTH_SUCCESS = 0,
  BERTH_ERROR = 1,                          /* failure; tried again after a backoff */
  BERTH_UNSCHEDULABLE = 2,                  /* not now; preemption may help */
  BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE = 3, /* not now, and evicting pods would not help */
  BERTH_WAIT = 4,                           /* permit: hold the pod until allowed, rejected or timed out */
  BERTH_SKIP = 5,                           /* pre_filter, pre_score: filter or score need not run for this pod */
  BERTH_PENDING = 6                         /* not before an external event; no backoff */
};

typedef struct berth_string {
  const char* data; /* not zero-terminated; null only when size is 0 */
  size_t size;
} berth_string;

/* ---- what a plugin is given ------------------------------------------------------------------------------------ */

/* The pod being scheduled, and what it requests: milli-cores and bytes, summed over all containers as kube-scheduler
 * does. The host's pod_ functions return more. */
typedef struct berth_pod {
  uint32_t size;
  int32_t priority;
  berth_string name;
  berth_string name_space;
  berth_string uid;
  int64_t request_milli_cpu;
  int64_t request_memory;
  int64_t request_ephemeral_storage;
  int64_t non_zero_milli_cpu; /* with kube-scheduler's defaults for containers without requests; for scores */
  int64_t non_zero_memory;
  const void* host; /* berth's own */
} berth_pod;

/* A batch of nodes as columns: position i of every array belongs to the i-th node. A batch may contain all nodes of the
 * cluster, those that have changed, or a single one as it would be without some pod (preemption): use only the values
 * given here and never remember nodes by position. Where live[i] is 0 there is no node, and the result for i is
 * ignored. The host's node_ functions return more. */
typedef struct berth_nodes {
  uint32_t size;
  uint32_t count;
  const uint8_t* live;
  const uint8_t* unschedulable; /* spec.unschedulable */
  const int64_t* allocatable_milli_cpu;
  const int64_t* allocatable_memory;
  const int64_t* allocatable_ephemeral_storage;
  const int64_t* allocatable_pods;
  const int64_t* requested_milli_cpu; /* by the pods on the node */
  const int64_t* requested_memory;
  const int64_t* requested_ephemeral_storage;
  const int64_t* non_zero_milli_cpu; /* with defaults, as in berth_pod */
  const int64_t* non_zero_memory;
  const int64_t* pod_count;
  const void* host; /* berth's own */
} berth_nodes;

/* The values of one label over a batch. Equal ids mean equal values; ids are meaningless after the call. */
typedef struct berth_label_column {
  uint32_t size;
  uint32_t value_count; /* ids are below this */
  const int32_t* ids;   /* by position in the batch; -1: the node does not have the label */
  const void* host;     /* berth's own */
} berth_label_column;

/* One call of an extension point. */
typedef struct berth_call {
  uint32_t size;
  uint32_t reserved;
  const berth_pod* pod;
  /* Cycle data: what pre_filter and pre_score have stored for this pod with set_pre_filter_data and set_pre_score_data;
   * null if nothing. Read-only once stored, because several calls may share it; only add_pod and remove_pod may change
   * pre_filter_data, of which they get their own copy. */
  void* pre_filter_data;
  void* pre_score_data;
  void* host; /* berth's own */
} berth_call;

/* A label key, made once in `init` by the host's label_key; valid as long as the instance. */
typedef struct berth_label_key berth_label_key;
/* A plugin instance as berth sees it; passed to `init`, valid as long as the instance. */
typedef struct berth_instance berth_instance;

/* ---- what a plugin may call ---------------------------------------------------------------------------------------
 */

/* Valid until the process ends. */
typedef struct berth_host {
  uint32_t abi_version;
  uint32_t size;
  const char* version; /* of berth; for people */

  /* In `init` only. Registers a rejection that `filter` may return: `code` is one of the three kinds of rejection. The
   * result, 1 or more, is the verdict for it; 0: not accepted (another code, or more than 200). Most libraries have one
   * or two; the text is what users read in "0/5 nodes are available: 5 TEXT." */
  uint8_t (*add_reason)(berth_instance*, berth_code code, berth_string text);
  const berth_label_key* (*label_key)(berth_instance*, berth_string key);

  /* The message for any code but success, or for an init that fails. The last one counts. */
  void (*say)(berth_call*, berth_string text);
  void (*say_init)(berth_instance*, berth_string text);

  /* In `sign` only: something that filter and score read from the pod. A key must always have the same meaning. */
  void (*add_to_signature)(berth_call*, berth_string key, berth_string value);
  /* In `pre_filter` only: restricts filtering to the nodes named this way. If it is not called, all nodes are
   * filtered. */
  void (*keep_node)(berth_call*, berth_string node_name);
  /* In pre_filter and pre_score only, once. berth takes ownership of the memory and frees it with the class's
   * free_data, when no cycle needs it any more (possibly much later: similar pods share one evaluation). It must not
   * point to anything that was passed to a call. */
  void (*set_pre_filter_data)(berth_call*, void* data);
  void (*set_pre_score_data)(berth_call*, void* data);

  /* An empty string with data == null: there is none. */
  berth_string (*pod_label)(const berth_pod*, berth_string key);
  berth_string (*pod_annotation)(const berth_pod*, berth_string key);
  /* By resource name, "example.com/gpu"; milli-cores for cpu. 0 if the pod does not request it. */
  int64_t (*pod_request)(const berth_pod*, berth_string resource);
  /* The pod as JSON, as far as scheduling reads it. Generated on request: expensive compared with the others. */
  berth_string (*pod_json)(berth_call*);

  /* All names of the batch, by position; empty for positions without a node. Generated on request. */
  const berth_string* (*node_names)(const berth_nodes*);
  /* Fills `column`, whose `size` the caller has set. Cheap after the first call for a key. */
  void (*label_column)(const berth_nodes*, const berth_label_key*, berth_label_column* column);
  berth_string (*label_value)(const berth_label_column*, int32_t id);
  /* For a single node of the batch; `i` below count. */
  berth_string (*node_label)(const berth_nodes*, uint32_t i, berth_string key);
  berth_string (*node_annotation)(const berth_nodes*, uint32_t i, berth_string key);
  int64_t (*node_allocatable)(const berth_nodes*, uint32_t i, berth_string resource);
  int64_t (*node_requested)(const berth_nodes*, uint32_t i, berth_string resource);

  /* Allows or rejects a pod for which this plugin's `permit` returned BERTH_WAIT: whichever of its attempts waits now,
   * which may be a later one. Unknown pods are ignored. */
  void (*allow_waiting_pod)(berth_instance*, berth_string uid);
  void (*reject_waiting_pod)(berth_instance*, berth_string uid, berth_string reason);

  /* Newer than 1.0; in `explain` only. What the pod requires of the node and what the node has: "fuel", "5", "2". An
   * empty string for `there`: nothing. */
  void (*add_finding)(berth_call*, berth_string subject, berth_string asked, berth_string there);
  /* A label with which the plugin would accept the node. Several calls make one proposal; berth tries it on a copy of
   * the cluster, with all plugins, before showing it. */
  void (*propose_pod_label)(berth_call*, berth_string key, berth_string value);
  void (*propose_node_label)(berth_call*, berth_string key, berth_string value);

  /* ---- ABI 2 ---- */

  /* In `explain` only: a sentence about this node, for findings that do not compare two values. */
  void (*add_remark)(berth_call*, berth_string text);

  /* In `init` only. Objects of this resource, "licencepools.v1.example.com" ("pods.v1." for the core group), are listed
   * and watched from now on. The result identifies the resource in add_event and below; 0: not accepted. Without
   * `keep_json` only names are known. Results that use such objects depend on anything. */
  uint32_t (*watch_resource)(berth_instance*, berth_string resource, int32_t keep_json);
  /* In `init` only: as an entry of the class's `events`. 0: there is no such event. */
  int32_t (*add_event)(berth_instance*, uint32_t resource, uint32_t actions);
  /* On the scheduling thread: in any function but filter and score. The object as JSON; null data: there is none. */
  berth_string (*custom_object)(berth_instance*, uint32_t resource, berth_string name_space, berth_string name);
  /* All of them, by namespace and name. */
  void (*visit_custom_objects)(berth_instance*, uint32_t resource,
                               void (*visit)(void* context, berth_string name_space, berth_string name,
                                             berth_string json),
                               void* context);

  /* Records an event about the pod, written in the background: `reason` in CamelCase, `action` is what was being done,
   * `note` is for people. In a simulation it is ignored. */
  void (*record_event)(berth_instance*, const berth_pod*, int32_t is_warning, berth_string reason, berth_string action,
                       berth_string note);

  /* In pre_filter and post_filter only: all nodes of the cluster, as one batch. Null elsewhere. */
  const berth_nodes* (*all_nodes)(berth_call*);
  /* The k-th pod on a node of the batch, k below pod_count[i]. Fills `pod`, whose `size` the caller has set, up to that
   * size; returns 0 and fills nothing if there is no such pod. */
  int32_t (*node_pod)(const berth_nodes*, uint32_t i, uint32_t k, berth_pod* pod);

  /* In `post_filter` only. The result of all filters for the node if these pods were not there. */
  berth_code (*try_without)(berth_call*, berth_string node_name, const berth_string* uids, size_t count);
  /* The node to nominate for the pod, and the pods on it to evict for that, the most important first. */
  void (*nominate)(berth_call*, berth_string node_name);
  void (*add_victim)(berth_call*, berth_string uid);

  /* Check `size`. Has these pods tried again if they are unschedulable or backing off, siblings of the current pod for
   * instance. Takes effect between cycles; unknown and active pods are left alone. */
  void (*activate_pods)(berth_instance*, const berth_string* uids, size_t count);
} berth_host;

/* ---- what a plugin is ----------------------------------------------------------------------------------------------
 */

/* What the results of filter, or those of pre_score and score, depend on, besides what `sign` signed. berth keeps
 * results until that changes; a class that declares too little gets stale results, one that declares too much is called
 * more often, node by node. Keeping results also requires `sign`; then pre_filter may depend only on what was signed
 * and on Node objects, and pre_score must not read which nodes are feasible. */
typedef enum berth_depends_on {
  BERTH_ON_ANYTHING = 0,
  BERTH_ON_NODE = 1,          /* the Node object alone */
  BERTH_ON_NODE_AND_PODS = 2, /* the Node object and the pods on it: everything in berth_nodes */
  BERTH_ON_ALL_NODES = 3      /* the Node objects of the whole cluster, but no pods; scores only */
} berth_depends_on;

/* How scores are brought into 0..100. */
typedef enum berth_normalization {
  BERTH_NORMALIZE_NONE = 0,                /* they are already */
  BERTH_NORMALIZE_BY_MAXIMUM = 1,          /* score * 100 / highest; scores are 0 or more */
  BERTH_NORMALIZE_BY_MAXIMUM_REVERSED = 2, /* 100 - score * 100 / highest */
  BERTH_NORMALIZE_OWN = 3                  /* by the class's `normalize` */
} berth_normalization;

/* Events that may make a pod schedulable that the plugin rejected. */
typedef enum berth_resource {
  BERTH_ANY_RESOURCE = 0,
  BERTH_POD = 1,
  BERTH_NODE = 2,
  BERTH_PERSISTENT_VOLUME = 3,
  BERTH_PERSISTENT_VOLUME_CLAIM = 4,
  BERTH_CSI_NODE = 5,
  BERTH_CSI_DRIVER = 6,
  BERTH_VOLUME_ATTACHMENT = 7,
  BERTH_CSI_STORAGE_CAPACITY = 8,
  BERTH_STORAGE_CLASS = 9,
  BERTH_RESOURCE_CLAIM = 10,
  BERTH_RESOURCE_SLICE = 11,
  BERTH_DEVICE_CLASS = 12,
  BERTH_SERVICE = 13 /* ABI 2 */
} berth_resource;

/* Combine with |. */
#define BERTH_ADD (1u << 0)
#define BERTH_DELETE (1u << 1)
#define BERTH_UPDATE_NODE_ALLOCATABLE (1u << 2)
#define BERTH_UPDATE_NODE_LABEL (1u << 3)
#define BERTH_UPDATE_NODE_TAINT (1u << 4)
#define BERTH_UPDATE_NODE_CONDITION (1u << 5)
#define BERTH_UPDATE_NODE_ANNOTATION (1u << 6)
#define BERTH_UPDATE_NODE_DECLARED_FEATURE (1u << 7)
#define BERTH_UPDATE_POD_LABEL (1u << 8)
#define BERTH_UPDATE_POD_SCALE_DOWN (1u << 9)
#define BERTH_UPDATE_POD_TOLERATION (1u << 10)
#define BERTH_UPDATE_POD_SCHEDULING_GATES_ELIMINATED (1u << 11)
#define BERTH_UPDATE_POD_GENERATED_RESOURCE_CLAIM (1u << 12)
#define BERTH_ALL_ACTIONS ((1u << 13) - 1)
#define BERTH_UPDATE (BERTH_ALL_ACTIONS & ~(BERTH_ADD | BERTH_DELETE))

typedef struct berth_event {
  uint32_t resource; /* berth_resource */
  uint32_t actions;
} berth_event;

/* A plugin class. If a function is null, the plugin does not serve that extension point. `self` is what init has
 * stored. The comments list the codes that a function may return besides BERTH_SUCCESS and BERTH_ERROR. */
typedef struct berth_plugin_class {
  uint32_t size;
  uint32_t filter_depends_on; /* berth_depends_on */
  uint32_t score_depends_on;
  uint32_t normalization; /* berth_normalization */
  const char* name;       /* as configurations name it; not empty */
  /* None: pods that this plugin rejected are tried again after any event. */
  const berth_event* events;
  uint32_t event_count;
  uint32_t reserved;

  /* `args_json` is pluginConfig's args for the plugin as JSON text, "" if none. Optional: without it `self` is
   * null. */
  berth_code (*init)(berth_instance*, const char* args_json, void** self);
  void (*destroy)(void* self);
  void (*free_data)(void* self, void* data); /* see set_pre_filter_data */

  /* Adds everything that filter and score read from the pod with add_to_signature, so that similar pods share results.
   * BERTH_SKIP: not possible for this pod. Without this function pods never share results. */
  berth_code (*sign)(void* self, berth_call*);

  /* 1 if `a` is to be scheduled before `b`, otherwise 0; a strict weak order. *_added: when each entered the queue, in
   * nanoseconds since 1970. If it fails, the older pod comes first: there is no pod to fail. */
  int32_t (*queue_less)(void* self, const berth_pod* a, int64_t a_added, const berth_pod* b, int64_t b_added);
  /* May return UNSCHEDULABLE, UNSCHEDULABLE_AND_UNRESOLVABLE, PENDING: the pod is kept out of the queue until
   * an event. */
  berth_code (*pre_enqueue)(void* self, berth_call*);
  /* May return SKIP, UNSCHEDULABLE, UNSCHEDULABLE_AND_UNRESOLVABLE: for all nodes at once. */
  berth_code (*pre_filter)(void* self, berth_call*);
  /* verdicts[i] = 0: fits; otherwise a verdict from add_reason. Zeros on entry. */
  berth_code (*filter)(void* self, berth_call*, const berth_nodes*, uint8_t* verdicts);
  /* May return SKIP. `feasible` are the nodes that will be scored. */
  berth_code (*pre_score)(void* self, berth_call*, const berth_nodes* feasible);
  /* Zeros on entry. */
  berth_code (*score)(void* self, berth_call*, const berth_nodes*, int64_t* scores);
  /* For BERTH_NORMALIZE_OWN: brings the scores of all feasible nodes into 0..100, in place. */
  berth_code (*normalize)(void* self, berth_call*, const berth_nodes*, int64_t* scores);
  /* A node has been chosen. May return UNSCHEDULABLE, UNSCHEDULABLE_AND_UNRESOLVABLE, PENDING. */
  berth_code (*reserve)(void* self, berth_call*, berth_string node_name);
  /* Undoes reserve; must be harmless if called twice or without it. A class with either function serves Reserve. */
  void (*unreserve)(void* self, berth_call*, berth_string node_name);
  /* May return WAIT (after setting *timeout_ms, at most 15 minutes), and the rejections that `reserve` may. */
  berth_code (*permit)(void* self, berth_call*, berth_string node_name, int64_t* timeout_ms);

  /* Newer than 1.0. Reports why pre_filter or filter rejects this node, the only one of the batch, with add_finding,
   * and what would help, with propose_pod_label and propose_node_label. Called only when a person asks for an
   * explanation, and without cycle data. */
  berth_code (*explain)(void* self, berth_call*, const berth_nodes* node);

  /* ---- ABI 2 ---- */

  /* "What if `other` were added to, or removed from, the node?": updates call->pre_filter_data, which is the caller's
   * own copy. The node, the only one of the batch, already has the change. Both or neither; with them, filter may
   * depend on pods of other nodes, so filter_depends_on is BERTH_ON_ANYTHING. */
  berth_code (*add_pod)(void* self, berth_call*, const berth_pod* other, const berth_nodes* node);
  berth_code (*remove_pod)(void* self, berth_call*, const berth_pod* other, const berth_nodes* node);
  /* Required with those: returns a copy of pre_filter_data, to be freed by free_data. Null fails the what-if. */
  void* (*clone_data)(void* self, const void* data);
  /* Runs if no node is feasible: makes room. `codes` are the results of the filters, by position. SUCCESS, after
   * calling nominate and add_victim: the victims are evicted and the pod gets the node once they are gone.
   * UNSCHEDULABLE: the next post_filter is called; UNSCHEDULABLE_AND_UNRESOLVABLE: none is. It only decides: the same
   * plugin's reserve is called when the pod is scheduled again. */
  berth_code (*post_filter)(void* self, berth_call*, const berth_nodes* nodes, const berth_code* codes);
} berth_plugin_class;

/* The first two fields are the same in every ABI. */
typedef struct berth_plugin_library_table {
  uint32_t abi_version; /* BERTH_PLUGIN_ABI */
  uint32_t size;
  const berth_plugin_class* const* classes;
  uint32_t class_count;
  uint32_t reserved;
} berth_plugin_library_table;

#if defined(_WIN32)
#define BERTH_PLUGIN_EXPORT
#else
#define BERTH_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* The one symbol that a library exports. Null: not loaded. */
BERTH_PLUGIN_EXPORT const berth_plugin_library_table* berth_plugin_library(const berth_host* host);

#ifdef __cplusplus
}
#endif
