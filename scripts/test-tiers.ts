/**
 * Beginnings of paths: what takes other servers, processes of its own, a browser, or its time. The rest is what a
 * contributor runs all day: units, contracts on SQLite and memory, the front door. What takes longest goes first:
 * whoever begins last with half a minute of work runs alone, and one core has nothing to do.
 */
const systemTests = [
  'test/tools/',
  'test/browser/dashboard',
  'test/cluster/writing',
  'test/cluster/exactness',
  'test/cluster/reading-after-writing',
  'test/exactness',
  'test/cluster/',
  'test/writing/google-kills',
  'test/writing/kills',
  'test/attacks/',
  'test/process/',
  'test/package/',
  'test/quota-kills',
  'test/google/',
  'test/browser/',
  'test/memory/',
  'test/neighbours/',
  'test/shares/',
  'test/disk-shares',
  'test/writing/',
  'test/emulator/',
  'test/servers/',
  'test/dashboard/',
  'test/docs/',
  'test/connect/',
  'test/mail/',
  'test/webhooks/',
  'test/agents/',
  'test/client/',
  'test/pages/hidden-columns',
  'test/names/model',
  'test/changes/model',
  'test/changes/google-',
  'test/changes/undo',
  'test/changes/streaming',
  'test/changes/kills',
  'test/changes/log-simulation',
  'test/names/lane-simulation',
  'test/names/google-',
  'test/names/faults',
  'test/names/bulk',
  'test/spec/order-of-checks',
  'test/spec/two-forms',
  'test/spec/formats-large',
  'test/spec/fuzz',
  'test/spec/slow-clients',
  'test/spec/clock-steps',
  'test/spec/wide-sheets',
  'src/sheets/rows/query/long-cells',
  'src/sheets/rows/sums/many-groups',
  'src/sheets/reading/decoding',
  'src/providers/file/xlsx/read/hostile',
  'src/providers/file/xlsx/edit/edit-property',
  'src/providers/file/xlsx/edit/edit-hostile',
  'scripts/set-up',
  'src/store/sql/postgres/',
  'src/shared-state/redis/',
]

/**
 * Of the system tests, those that hold somebody's waiting time against a bound, or that ask so much at once that our own bounds
 * (two seconds for the store, half a minute for a write, then 503) are near on a busy machine. Each runs alone, after all others.
 */
const measuringTests = [
  'src/sheets/rows/query/long-cells',
  'src/sheets/rows/sums/many-groups',
  'test/cluster/writing',
  'test/cluster/noting-keys',
  'test/cluster/reading-logs',
  'test/browser/first-paint',
  'test/cluster/rolling-restart',
  'test/names/bulk',
  'test/attacks/',
  'test/process/strangers',
  'test/neighbours/decoding',
  'test/neighbours/editing',
  'test/neighbours/left-previews',
  'test/neighbours/query-memory',
  'test/shares/',
  'test/writing/google-kills',
]

/**
 * Of the system tests, those that wait most of their time, for what a server does every few seconds or gives up after some, and take
 * little of a processor meanwhile. They run beside all others.
 */
const waitingTests = [
  'test/webhooks/',
  'test/mail/',
  'test/connect/prove',
  'test/cluster/caddy',
  'test/cluster/postgres-restarts',
  'test/writing/google-columns',
  'test/writing/human',
  'test/changes/kills',
  'test/changes/streaming',
  'test/client/',
]

/**
 * Of the system tests, those that wait for a page in a browser, and those that hold little else than somebody's waiting time.
 * Nowhere else does a test that failed pass by a second run: what is lost or doubled once is.
 */
const secondChanceTests = [
  'test/browser/',
  'test/docs/',
  'test/tools/',
  'src/sheets/rows/query/long-cells',
  'src/sheets/rows/sums/many-groups',
  'test/attacks/',
  'test/process/strangers',
  'test/neighbours/decoding',
  'test/neighbours/editing',
  'test/neighbours/left-previews',
  'test/neighbours/query-memory',
  'test/shares/',
]

/** Of those, what holds who is served and who is refused, however long it takes. */
const noSecondChanceTests = ['test/shares/visitors']

/** Of the others, what takes longest. */
const longQuickTests = ['test/spec/malformed', 'test/spec/', 'test/']

export function isQuick(file: string): boolean {
  return !systemTests.some((beginning) => file.startsWith(beginning))
}

export function isMeasuring(file: string): boolean {
  return measuringTests.some((beginning) => file.startsWith(beginning))
}

export function isWaiting(file: string): boolean {
  return waitingTests.some((beginning) => file.startsWith(beginning))
}

export function hasSecondChance(file: string): boolean {
  const isAmong = (beginnings: readonly string[]) =>
    beginnings.some((beginning) => file.startsWith(beginning))
  return isAmong(secondChanceTests) && !isAmong(noSecondChanceTests)
}

export function inOrder(files: readonly string[]): string[] {
  const ranks = [...systemTests, ...longQuickTests]
  const rank = (file: string) => {
    const at = ranks.findIndex((beginning) => file.startsWith(beginning))
    return at === -1 ? ranks.length : at
  }
  return files.toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1))
}

/**
 * Files that are run by one process together: quick ones beside the source they test by the dozen, those of the front door by
 * fours. Most need a tenth of a second once everything is loaded, and many times that to load it; neighbours load the same. It saves
 * a fifth of `npm test`.
 */
export function inDozens(files: readonly string[]): string[][] {
  const isBeside = (file: string) => isQuick(file) && !file.startsWith('test/')
  const isAtFrontDoor = (file: string) => isQuick(file) && file.startsWith('test/')
  const alone = files.filter((file) => !isQuick(file)).map((file) => [file])
  return [...alone, ...parted(files.filter(isAtFrontDoor), 4), ...parted(files.filter(isBeside), 12)]
}

function parted(files: readonly string[], size: number): string[][] {
  return files.flatMap((_, at) => (at % size === 0 ? [files.slice(at, at + size)] : []))
}
