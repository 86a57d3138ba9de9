// Elements out of names and texts. What comes from the input only ever becomes a text node or the value of an attribute:
// nothing here reads markup.

export const byId = (id) => document.getElementById(id);

// make('td', { class: 'number' }, '5'). A function becomes a listener (onclick), true an empty attribute; undefined and
// false are left out, of attributes and of children.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== false && child !== ''));
  return element;
}

export const link = (text, onclick, attributes = {}) =>
  make('button', { type: 'button', class: 'link', onclick, ...attributes }, text);

export function shareBar(share) {
  const element = make('span', { class: share > 1 ? 'bar over' : 'bar', 'aria-hidden': 'true' }, make('span'));
  element.style.setProperty('--share', share);
  return element;
}

// A few of the items, and the others behind a line that opens.
export function someOf(items, few, draw) {
  if (items.length <= few + 1)
    return make(
      'ul',
      { class: 'names' },
      items.map((item) => make('li', {}, draw(item))),
    );
  const rest = make('ul', { class: 'names' });
  const more = make('details', {}, make('summary', {}, `and ${(items.length - few).toLocaleString('en')} more`), rest);
  // Thousands of names are made only when somebody looks.
  more.addEventListener('toggle', () => {
    if (more.open && !rest.firstChild) rest.append(...items.slice(few).map((item) => make('li', {}, draw(item))));
  });
  return make(
    'div',
    {},
    make(
      'ul',
      { class: 'names' },
      items.slice(0, few).map((item) => make('li', {}, draw(item))),
    ),
    more,
  );
}
