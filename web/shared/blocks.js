// Where the blocks of a tile lie: rectangles whose areas are shares of the tile, in rows from the bottom up, as near to
// squares as their order allows.

// The longest side against the shortest of the worst block, were these areas one row of that width.
function worstShape(areas, total, width) {
  const height = total / width;
  return Math.max(...areas.map((area) => Math.max(area / height / height, (height * height) / area)));
}

// `shares` of 0 to 1 in the order wanted; those that are 0 get no block (null). More than 1 in all is scaled down to 1.
export function layBlocks(shares, side) {
  const sum = shares.reduce((all, share) => all + Math.max(share, 0), 0);
  const scale = (side * side) / Math.max(sum, 1);
  const blocks = shares.map(() => null);
  let bottom = side;
  let row = [];
  let areas = [];
  let total = 0;
  const close = () => {
    if (row.length === 0) return;
    const height = total / side;
    let left = 0;
    row.forEach((index, i) => {
      const width = areas[i] / height;
      blocks[index] = { x: left, y: bottom - height, width, height };
      left += width;
    });
    bottom -= height;
    row = [];
    areas = [];
    total = 0;
  };
  shares.forEach((share, index) => {
    const area = share * scale;
    if (!(area > 0)) return;
    if (row.length > 0 && worstShape([...areas, area], total + area, side) > worstShape(areas, total, side)) close();
    row.push(index);
    areas.push(area);
    total += area;
  });
  close();
  return blocks;
}

// All blocks of a kind as one path: a thousand nodes with thirty pods each remain a few thousand elements.
export function pathOf(blocks, gap) {
  let path = '';
  for (const block of blocks) {
    if (!block) continue;
    const width = Math.max(block.width - gap, 0.6);
    const height = Math.max(block.height - gap, 0.6);
    path += `M${block.x.toFixed(1)} ${block.y.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`;
  }
  return path;
}
