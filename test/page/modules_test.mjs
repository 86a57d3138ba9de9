// The modules that need no page, loaded as they are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layBlocks, pathOf } from '../../web/shared/blocks.js';
import { amountText, commonDomain, naturalCompare, shellQuoted } from '../../web/shared/text.js';

test('amounts are written for people', () => {
  const table = [
    ['cpu', 1500, '1.5'],
    ['cpu', 8000, '8'],
    ['cpu', 1, '0.001'],
    ['memory', 1610612736, '1.5Gi'],
    ['memory', 512, '512'],
    ['ephemeral-storage', 2048, '2Ki'],
    ['hugepages-2Mi', 2097152, '2Mi'],
    ['example.com/gpu', 4096, '4096'],
  ];
  for (const [resource, amount, text] of table) assert.equal(amountText(resource, amount), text);
});

test('names are in natural order', () => {
  assert.deepEqual(['node-10', 'node-9', 'a', 'node-1'].sort(naturalCompare), ['a', 'node-1', 'node-9', 'node-10']);
});

test('a domain is left out only where all names have it', () => {
  assert.equal(commonDomain(['a.eu.internal', 'b.eu.internal']), '.eu.internal');
  assert.equal(commonDomain(['a.eu.internal', 'b.us.internal']), '.internal');
  assert.equal(commonDomain(['a.eu', 'eu', 'b.eu']), '');
  assert.equal(commonDomain(['a.eu']), '');
});

test('words are quoted as a shell wants them', () => {
  assert.equal(shellQuoted('count=3,cpu=4'), 'count=3,cpu=4');
  assert.equal(shellQuoted("it's here"), "'it'\\''s here'");
  assert.equal(shellQuoted(''), "''");
});

test('blocks have the areas of their shares and lie within the tile without touching', () => {
  const shares = [0.4, 0.2, 0.1, 0, 0.1, 0.05];
  const blocks = layBlocks(shares, 100);
  blocks.forEach((block, i) => {
    if (shares[i] === 0) {
      assert.equal(block, null);
      return;
    }
    assert.ok(Math.abs(block.width * block.height - shares[i] * 10_000) < 1e-6, `area of ${i}`);
    assert.ok(
      block.x >= 0 && block.x + block.width <= 100 + 1e-9 && block.y >= 0 && block.y + block.height <= 100 + 1e-9,
      `place of ${i}`,
    );
    for (const other of blocks.slice(i + 1)) {
      if (!other) continue;
      const apart =
        block.x + block.width <= other.x + 1e-9 ||
        other.x + other.width <= block.x + 1e-9 ||
        block.y + block.height <= other.y + 1e-9 ||
        other.y + other.height <= block.y + 1e-9;
      assert.ok(apart, `${i} lies over another`);
    }
  });
});

test('more pods than a node holds still lie within its tile', () => {
  const blocks = layBlocks([1, 1, 1], 90);
  assert.ok(blocks.every((block) => block.y >= -1e-9 && Math.abs(block.width * block.height - 2700) < 1e-6));
  assert.equal(pathOf(blocks, 0).split('z').length - 1, 3);
});
