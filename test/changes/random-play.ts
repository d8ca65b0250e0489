import type { Cell } from '../../src/sheets/rows/grid.ts'

/** What clients and people do to a small sheet, by a seed. */
export type Play = ReturnType<typeof createPlay>

export function createPlay(seed: number, isKeyed: boolean) {
  let state = seed
  let made = 0
  let grid: Cell[][] = [
    ['sku', 'name', 'price'],
    ...Array.from({ length: 6 }, (_, n): Cell[] => [newKey(), `name ${n % 3}`, n]),
  ]
  const names = ['Lamp', 'Table', 'Shelf', 'x, "y"', 'ß 😀', null]

  return {
    get grid() {
      return grid
    },
    next: () => ++made,
    chance,
    below,
    /** A request that some client sends; it may well be refused. */
    write(): { method: string; path: string; body?: unknown } {
      const row = 2 + below(Math.max(grid.length, 2))
      const [columns = []] = grid
      const column = String(columns[below(columns.length)] ?? 'name')
      const change = { [column === 'sku' && isKeyed ? 'name' : column]: value() }
      const newRow = () =>
        Object.fromEntries(columns.map((name) => [name, name === 'sku' ? newKey() : value()]))
      const someKey = String(grid[row - 1]?.[0] ?? 'none')
      switch (below(7)) {
        case 0:
        case 1:
          return { method: 'POST', path: '', body: Array.from({ length: 1 + below(3) }, newRow) }
        case 2:
          return { method: 'PATCH', path: `/${row}`, body: change }
        case 3:
          return { method: 'DELETE', path: `/${row}` }
        case 4:
          return { method: 'PATCH', path: `/by/sku/${encodeURIComponent(someKey)}`, body: change }
        case 5:
          return {
            method: 'POST',
            path: '?upsert=sku',
            body: [newRow(), { ...newRow(), sku: someKey }],
          }
        default:
          return below(2)
            ? { method: 'PATCH', path: '?price[gte]=4', body: { price: below(9) } }
            : { method: 'DELETE', path: '?price[eq]=3' }
      }
    },
    /** Something that a person does in the spreadsheet, once or several times. */
    edit(): void {
      for (let n = 1 + below(3); n > 0; n--) editOnce()
    },
    /** As it is by now, whoever did what. */
    take(columns: readonly string[], rows: readonly Record<string, unknown>[]): void {
      const all: Cell[][] = [[...columns]]
      for (const row of rows) {
        while (all.length < Number(row._row) - 1) all.push(columns.map(() => null))
        all.push(columns.map((name) => row[name] as Cell))
      }
      grid = all
    },
  }

  function editOnce(): void {
    const [header = []] = grid
    const at = 1 + below(Math.max(grid.length - 1, 1))
    const row = grid[at]
    const column = below(header.length)
    switch (below(11)) {
      case 0:
      case 1:
      case 2:
        if (row) row[isKeyed && header[column] === 'sku' && chance(0.8) ? 1 : column] = value()
        break
      case 3:
        grid.splice(
          at,
          0,
          header.map((name) => (name === 'sku' ? newKey() : value())),
        )
        break
      case 4:
        if (grid.length > 2) grid.splice(at, 1)
        break
      case 5:
        grid.push(header.map((name) => (name === 'sku' ? newKey() : value())))
        break
      case 6:
        if (grid.length > 3) grid = [header, ...grid.slice(1).sort(() => (chance(0.5) ? 1 : -1))]
        break
      case 7:
        if (row) grid[at] = header.map(() => null)
        break
      case 8:
        // A copy, key and all.
        if (row) grid.push([...row])
        break
      case 9:
        editColumns(header)
        break
      default:
        grid.splice(
          at,
          0,
          header.map(() => null),
        )
    }
    while (grid.length > 1 && grid.at(-1)?.every((cell) => cell === null || cell === '')) grid.pop()
  }

  function editColumns(header: Cell[]): void {
    const at = 1 + below(header.length - 1)
    const kind = below(4)
    if (kind === 0) header[at] = `column ${++made}`
    else if (kind === 1)
      for (const [n, row] of grid.entries()) row.splice(at, 0, n === 0 ? `new ${++made}` : null)
    else if (kind === 2 && header.length > 3) for (const row of grid) row.splice(at, 1)
    else for (const row of grid) row.push(...row.splice(at, 1))
  }

  function value(): Cell {
    return chance(0.5) ? below(9) : (names[below(names.length)] ?? null)
  }

  function newKey(): string {
    return `K-${++made}`
  }

  function chance(share: number): boolean {
    return random() < share
  }

  function below(end: number): number {
    return Math.floor(random() * end)
  }

  /** mulberry32. */
  function random(): number {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }
}
