/** A file of so many rows and columns, as bytes: a million rows are too many for one text. */
export function csvOf(rows: number, columns = 10): Buffer {
  const names = Array.from({ length: columns }, (_, at) => usualNames[at] ?? `column_${at}`)
  const pieces = [Buffer.from(`${names.join(',')}\n`)]
  let lines = ''
  for (let n = 0; n < rows; n++) {
    for (let at = 0; at < columns; at++) lines += `${at === 0 ? '' : ','}${cellOf(n, at)}`
    lines += '\n'
    if (lines.length < pieceLength && n < rows - 1) continue
    pieces.push(Buffer.from(lines))
    lines = ''
  }
  return Buffer.concat(pieces)
}

const pieceLength = 1_000_000
const usualNames = [
  'id',
  'name',
  'city',
  'price',
  'email',
  'category',
  'in_stock',
  'created',
  'note',
  'count',
]

function cellOf(n: number, column: number): string | number {
  switch (column) {
    case 0:
      return n
    case 1:
      return `Product number ${n}`
    case 2:
      return `City ${n % 50}`
    case 3:
      return ((n * 7_919) % 100_000) / 100
    case 4:
      return `user${n}@example.com`
    case 5:
      return `Category ${n % 7}`
    case 6:
      return n % 3 ? 'TRUE' : 'FALSE'
    case 7:
      return `2026-11-${10 + (n % 20)}T09:30:00`
    case 8:
      return `"Some words, ${n}"`
    default:
      return (n * column) % 97
  }
}
