import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installMissing } from '../../test/servers/install-missing.ts'
import { findPostgres } from '../../test/servers/postgres.ts'
import { findRedis } from '../../test/servers/redis.ts'
import { wrk } from '../load.ts'
import { withEnds } from '../row.ts'
import { accountsAxis } from './accounts.ts'
import { columnsAxis } from './columns.ts'
import { connectionsAxis } from './connections.ts'
import { flatnessOf } from './flatness.ts'
import { drawPicture } from './picture.ts'
import { type Axis, type Point, type StoreKind, storeKinds } from './point.ts'
import { type Measured, readRecord, writeRecord } from './record.ts'
import { rowsAxis } from './rows.ts'
import { sheetsAxis } from './sheets.ts'
import { subscribersAxis } from './subscribers.ts'
import { tableOf } from './table.ts'
import { writersAxis } from './writers.ts'

/**
 * npm run bench:growth [-- --only rows --store embedded --seconds 2 --from 1000 --to 1000000 --draw]: measures each axis alone,
 * one after the other. Each point is in growth.json as soon as it is measured; picture and tables of RESULTS.md follow when an
 * axis is done or the run is broken off, and what was measured before stays for all that this run does not reach. So one that
 * broke off goes on with `--only` and, among its sizes, with `--from`. `--draw` measures nothing.
 */
const axes: readonly Axis[] = [
  rowsAxis,
  columnsAxis,
  sheetsAxis,
  accountsAxis,
  connectionsAxis,
  writersAxis,
  subscribersAxis,
]

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: axes.map(({ name }) => name) },
    store: { type: 'string', multiple: true, default: [...storeKinds] },
    seconds: { type: 'string', default: '2' },
    from: { type: 'string', default: '1' },
    to: { type: 'string', default: '1000000' },
    draw: { type: 'boolean', default: false },
  },
})

const unknown = [
  ...values.only.filter((wanted) => !axes.some(({ name }) => name === wanted)),
  ...values.store.filter((wanted) => !storeKinds.some((kind) => kind === wanted)),
]
if (unknown.length > 0) {
  const known = `--only: ${axes.map(({ name }) => name).join(', ')}; --store: ${storeKinds.join(', ')}`
  process.stderr.write(`Not known: ${unknown.join(', ')}. ${known}\n`)
  process.exit(1)
}
const wish = { seconds: Number(values.seconds), from: Number(values.from), to: Number(values.to) }
const isWhole = wish.from === 1 && wish.to === 1_000_000
const resultsFile = join(import.meta.dirname, '../RESULTS.md')
const pictureFile = join(import.meta.dirname, '../growth.svg')
const [begin, end] = ['<!-- npm run bench:growth writes what follows -->', '<!-- until here -->']

// Nothing that was started outlives a run that is broken off, and nothing that was measured is lost.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    tell()
    process.exit(1)
  })
}

if (!values.draw) {
  const say = (line: string) => process.stderr.write(`rowport: ${line}\n`)
  await installMissing({ programs: [wrk], install: true, say })
  if (!wrk.find()) {
    process.stderr.write('The bench needs wrk (Debian: apt-get install wrk; macOS: brew install wrk).\n')
    process.exit(1)
  }
  for (const axis of axes.filter(({ name }) => values.only.includes(name))) {
    for (const store of storeKinds.filter((kind) => values.store.includes(kind) && isThere(kind)))
      await measure(axis, store)
    process.stdout.write(`\n${tableOf(axis, readRecord())}\n\n`)
  }
}
tell()

function isThere(store: StoreKind): boolean {
  return store === 'embedded' || (findPostgres() !== undefined && findRedis() !== undefined)
}

async function measure(axis: Axis, store: StoreKind): Promise<void> {
  const begunMs = performance.now()
  process.stdout.write(`${axis.name}, ${store}\n`)
  const points: Point[] = []
  try {
    await withEnds(async (after) => {
      for await (const point of axis.measure(store, after, wish)) {
        points.push(point)
        keep(axis, store, points, true)
        process.stdout.write(`  ${lineOf(point)}\n`)
      }
    })
    // What an earlier run had and this one does not ask any more.
    if (isWhole) keep(axis, store, points, false)
  } catch (error) {
    process.exitCode = 1
    process.stdout.write(`  FAILED: ${(error as Error).stack}\n`)
  }
  process.stdout.write(`  in ${((performance.now() - begunMs) / 1_000).toFixed(0)} s\n`)
  tell()
}

/** Where a run broke off, what an earlier one found stays for the sizes that it did not reach. */
function keep({ name }: Axis, store: StoreKind, points: readonly Point[], withFormer: boolean): void {
  const record = readRecord()
  const isThis = (measured: Measured) => measured.axis === name && measured.store === store
  const isNew = ({ at, request }: Point) =>
    points.some((point) => point.at === at && point.request === request)
  const former = withFormer ? (record.find(isThis)?.points.filter((point) => !isNew(point)) ?? []) : []
  const all = [...points, ...former].sort((one, other) => one.at - other.at)
  if (all.length === 0) return
  const day = new Date().toISOString().slice(0, 10)
  const others = record.filter((measured) => !isThis(measured))
  writeRecord([...others, { axis: name, store, day, points: all }].sort(byOrder))
}

function byOrder(one: Measured, other: Measured): number {
  const place = ({ axis, store }: Measured) =>
    2 * axes.findIndex(({ name }) => name === axis) + storeKinds.indexOf(store)
  return place(one) - place(other)
}

function lineOf({ at, request, ...figures }: Point): string {
  const told = Object.entries(figures).filter(([, figure]) => figure !== null && !Number.isNaN(figure))
  return `${at} ${request}: ${told.map(([name, figure]) => `${name} ${Number(figure).toPrecision(3)}`).join(', ')}`
}

/** The picture, and the tables between the two marks. */
function tell(): void {
  const record = readRecord()
  if (record.length === 0) return
  writeFileSync(pictureFile, drawPicture(axes, record))
  const results = readFileSync(resultsFile, 'utf8')
  const [before, rest] = results.split(begin)
  const behind = rest?.split(end)[1]
  if (before === undefined || behind === undefined) throw new Error(`RESULTS.md lacks ${begin} or ${end}`)
  const measuredAxes = axes.filter(({ name }) => record.some(({ axis }) => axis === name))
  const tables = measuredAxes.map((axis) => tableOf(axis, record)).join('\n\n')
  const flatness = flatnessOf(measuredAxes, record)
  writeFileSync(resultsFile, `${before}${begin}\n\n${flatness}\n\n${tables}\n\n${end}${behind}`)
}
