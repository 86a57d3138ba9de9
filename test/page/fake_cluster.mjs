// An API server that is made up: lists and watches of what scheduling reads, over plain HTTP. Nothing can be written.
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const resources = {
  '/api/v1/nodes': 'Node',
  '/api/v1/pods': 'Pod',
  '/api/v1/namespaces': 'Namespace',
  '/api/v1/persistentvolumes': 'PersistentVolume',
  '/api/v1/persistentvolumeclaims': 'PersistentVolumeClaim',
  '/api/v1/services': 'Service',
  '/api/v1/replicationcontrollers': 'ReplicationController',
  '/apis/apps/v1/replicasets': 'ReplicaSet',
  '/apis/apps/v1/statefulsets': 'StatefulSet',
  '/apis/storage.k8s.io/v1/storageclasses': 'StorageClass',
  '/apis/storage.k8s.io/v1/csinodes': 'CSINode',
  '/apis/storage.k8s.io/v1/csidrivers': 'CSIDriver',
  '/apis/storage.k8s.io/v1/csistoragecapacities': 'CSIStorageCapacity',
  '/apis/storage.k8s.io/v1/volumeattachments': 'VolumeAttachment',
  '/apis/policy/v1/poddisruptionbudgets': 'PodDisruptionBudget',
  '/apis/scheduling.k8s.io/v1/priorityclasses': 'PriorityClass',
  '/apis/resource.k8s.io/v1/deviceclasses': 'DeviceClass',
  '/apis/resource.k8s.io/v1/resourceslices': 'ResourceSlice',
  '/apis/resource.k8s.io/v1/resourceclaims': 'ResourceClaim',
};
const versionOf = (url) => url.split('/').slice(2, -1).join('/');

export function node(name, cpu, zone) {
  const amounts = { cpu, memory: '16Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `node-${name}`, labels: { 'topology.kubernetes.io/zone': zone, 'kubernetes.io/hostname': name } },
    status: { capacity: amounts, allocatable: amounts },
  };
}

export function pod(name, cpu, more = {}) {
  const { nodeName, message, schedulerName = 'default-scheduler' } = more;
  const conditions = message ? [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] : [];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', uid: `pod-${name}`, creationTimestamp: '2026-01-01T12:00:00Z' },
    spec: {
      schedulerName,
      ...(nodeName ? { nodeName } : {}),
      containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }],
    },
    status: { phase: nodeName ? 'Running' : 'Pending', conditions },
  };
}

export class FakeCluster {
  constructor({ mayRead = true } = {}) {
    Object.assign(this, { mayRead, version: 10, objects: new Map(), watches: new Set(), methods: new Set() });
  }

  async start() {
    this.server = http.createServer((request, response) => this.answer(request, response));
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'berth-cluster-'));
    this.kubeconfig = path.join(this.folder, 'kubeconfig');
    this.address = `http://127.0.0.1:${this.server.address().port}`;
    fs.writeFileSync(
      this.kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        clusters: [{ name: 'c', cluster: { server: this.address } }],
        users: [{ name: 'u', user: {} }],
      }),
    );
    return this;
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    fs.rmSync(this.folder, { recursive: true });
  }

  of(kind) {
    if (!this.objects.has(kind)) this.objects.set(kind, new Map());
    return this.objects.get(kind);
  }

  put(object) {
    this.version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.version) } };
    const type = this.of(object.kind).has(object.metadata.uid) ? 'MODIFIED' : 'ADDED';
    this.of(object.kind).set(object.metadata.uid, stored);
    for (const watch of this.watches) if (watch.kind === object.kind) watch.send(type, stored);
  }

  answer(request, response) {
    this.methods.add(request.method);
    const url = new URL(request.url, this.address);
    const kind = resources[url.pathname];
    const send = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const failure = (code, reason, message) =>
      send(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message });
    if (!this.mayRead) return failure(403, 'Forbidden', `nobody may list ${url.pathname}`);
    if (!kind) return failure(404, 'NotFound', 'the server could not find the requested resource');
    const all = [...this.of(kind).values()];
    const version = String(this.version);
    if (url.searchParams.get('watch')) return this.watch(kind, versionOf(url.pathname), url, response);
    return send(200, {
      kind: `${kind}List`,
      apiVersion: versionOf(url.pathname),
      metadata: { resourceVersion: version },
      items: all,
    });
  }

  watch(kind, apiVersion, url, response) {
    response.writeHead(200, { 'content-type': 'application/json' });
    const send = (type, object) => response.write(`${JSON.stringify({ type, object })}\n`);
    const watch = { kind, send };
    if (url.searchParams.get('sendInitialEvents') === 'true') {
      for (const object of this.of(kind).values()) send('ADDED', object);
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      send('BOOKMARK', { kind, apiVersion, metadata: { resourceVersion: String(this.version), annotations } });
    }
    response.flushHeaders();
    this.watches.add(watch);
    response.on('close', () => this.watches.delete(watch));
  }
}
