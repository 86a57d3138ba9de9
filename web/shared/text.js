// Texts for people: counts, shares, amounts of resources, names in the order a person would put them.

export const counted = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

export const percent = (share) => Math.round(share * 100) + '%';

const collator = new Intl.Collator('en', { numeric: true });
// node-2 before node-10.
export const naturalCompare = (a, b) => collator.compare(a, b);

const inBytes = (resource) =>
  resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-');
const trimmed = (value, digits) => String(Number(value.toFixed(digits)));

// Amounts in the units scheduling computes with: thousandths of a core for cpu, bytes or counts otherwise.
export function amountText(resource, amount) {
  if (resource === 'cpu') return trimmed(amount / 1000, 3);
  if (!inBytes(resource)) return String(amount);
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
  let unit = 0;
  let value = amount;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return trimmed(value, 2) + units[unit];
}

// What all names have behind some dot, such as ".eu-central-1.compute.internal"; '' when that is nothing, or would leave
// a name without anything in front.
export function commonDomain(names) {
  if (names.length < 2) return '';
  const domainOf = (name) => (name.includes('.') ? name.slice(name.indexOf('.')) : '');
  let domain = domainOf(names[0]);
  while (domain && !names.every((name) => name.endsWith(domain) && name.length > domain.length))
    domain = domainOf(domain.slice(1));
  return domain;
}

// As one would type it in a shell.
export const shellQuoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
