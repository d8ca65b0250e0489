import { seededRandom } from '../../emulator/seeded-random.ts'
import { createGoogleWorld } from '../../emulator/sheets/world.ts'
import type { Clock } from '../../src/clock.ts'
import { createGoogle } from '../../src/providers/google/google.ts'
import { locateGoogleTab } from '../../src/providers/google/google-location.ts'
import { ExchangeLost, type Transport } from '../../src/providers/remote/transport.ts'
import { createSealing } from '../../src/secrets/sealing.ts'
import { createOwnValues } from '../../src/shared-state/registers/own-values.fixture.ts'
import type { Provider } from '../../src/sheets/provider.ts'
import { OutcomeUnknown, ProviderFailure } from '../../src/sheets/provider-failure.ts'
import type { Timers } from '../../src/timers.ts'
import { createMemoryCredentials } from './memory-credentials.ts'
import { createVirtualTime } from './virtual-time.ts'
import { plenty } from './writing-ground.ts'

/**
 * Hours of servers who write to one spreadsheet, with wall clocks that agree on nothing, and of a Google that loses
 * answers and does some batches up to three minutes late, by the dice. All of Rowport that speaks to Google is real; the
 * lane and the journal around it are a few lines here.
 */
export interface PlayedMarkers {
  writes: number
  acknowledged: number
  /** Rows that are there twice. */
  doubled: number
  /** Acknowledged, and not there. */
  lost: number
  late: number
  refusedLate: number
  kills: number
  settled: { applied: number; void: number }
  /** Google has room for 30,000 characters. */
  markers: {
    most: number
    mostCharacters: number
    left: number
    /** At most so many more than the batches of the last 25 minutes. */
    beyond: number
  }
}

export interface MarkersWish {
  hours: number
  writeEveryMs: number
  /** How long a server lives, on average. */
  lifeMs: number
  /** Of each deployment. */
  servers: number
  /** Rowports with a journal of their own, on the same spreadsheet. */
  deployments: number
  /** Of all batches: how many are answered to nobody. */
  unanswered: number
  /** How long a deployment is down as a whole, now and then; 0 for never. */
  downMs: number
}

interface Server {
  provider: Provider
  isDead: boolean
  skewMs: number
  died: Promise<'died'>
  die(): void
}

interface Write {
  id: string
  state: 'to do' | 'sending' | 'done'
  fence: string
}

const owner = 'ada@example.com'
const scope = 'https://www.googleapis.com/auth/spreadsheets'
const minuteMs = 60_000
const skewsMs = [0, 0, 4, -4, 8, 11, -11, 20, 60, -60, 2 * 24 * 60, -2 * 24 * 60].map(
  (minutes) => minutes * minuteMs,
)
/** Google works on a request for three minutes at most. */
const latestMs = 3 * minuteMs - 10_000
const countedMs = 25 * minuteMs

export async function playMarkers(seed: number, wish: MarkersWish): Promise<PlayedMarkers> {
  const random = seededRandom(seed)
  const between = (least: number, most: number) => least + random() * (most - least)
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const time = createVirtualTime()
  const { clock } = time
  const world = createGoogleWorld({ now: clock.nowMs, random })
  const { spreadsheetId } = world.createSpreadsheet({
    title: 'Orders',
    owner,
    tabs: [{ title: 'Items', values: [['id']] }],
  })
  const credentials = createMemoryCredentials()
  const credentialId = credentials.connect({ subject: owner, refreshToken: 'refresh token', scopes: scope })
  const { location } = locateGoogleTab({ spreadsheetId, tabId: 0 })
  const place = { accountId: 'acc', location, credentialId }
  const played = { kills: 0, late: 0, refusedLate: 0, settled: { applied: 0, void: 0 } }
  const markers = { most: 0, mostCharacters: 0, beyond: Number.NEGATIVE_INFINITY }
  const batchesAtMs: number[] = []
  const writes: Write[] = []
  /** Of rows that were taken out of the sheet, by what they say. */
  const timesThere = new Map<string, number>()
  let isOver = false

  const deployments = Array.from({ length: wish.deployments }, (_, at) =>
    deploy(`secret of deployment ${at}`),
  )
  countMarkers()
  archive()
  await time.pass(wish.hours * 60 * minuteMs)
  isOver = true
  // What is still under way comes to an end, and so does what is late.
  let isOpen = true
  const closed = Promise.all(deployments).finally(() => {
    isOpen = false
  })
  while (isOpen) await time.pass(minuteMs)
  await closed
  await time.pass(2 * latestMs)
  takeOut(cells().length - 1)
  const left = metadata().length
  const acknowledged = writes.filter(({ state }) => state === 'done')
  return {
    ...played,
    writes: writes.length,
    acknowledged: acknowledged.length,
    doubled: [...timesThere.values()].filter((times) => times > 1).length,
    lost: acknowledged.filter(({ id }) => !timesThere.has(id)).length,
    markers: { ...markers, left },
  }

  async function deploy(secret: string): Promise<void> {
    const servers = new Set<Server>()
    const journal = new Set<Write>()
    let downUntilMs = 0
    for (let at = 0; at < wish.servers; at++) start()
    if (wish.downMs > 0) goDownLater()
    while (!isOver || journal.size > 0) {
      await delay(isOver ? 100 : between(0.2, 1.8) * wish.writeEveryMs)
      // The lane goes from one to the other.
      const server = servers.size > 0 ? oneOf([...servers]) : null
      if (!server) continue
      const end = await Promise.race([turn(server, journal).then(() => 'over' as const), server.died])
      // Until its lease has run out.
      if (end === 'died') await delay(4_000)
    }
    for (const { die } of servers) die()

    function start(): void {
      if (clock.elapsedMs() < downUntilMs)
        return void time.timers.after(downUntilMs - clock.elapsedMs() + 1, start)
      const server = newServer(secret)
      servers.add(server)
      time.timers.after(between(0.2, 1.8) * wish.lifeMs, () => {
        if (isOver || server.isDead) return
        kill(server)
        time.timers.after(between(500, 15_000), start)
      })
      stepLater(server)
    }

    function kill(server: Server): void {
      played.kills++
      servers.delete(server)
      server.die()
    }

    function goDownLater(): void {
      time.timers.after(between(0.5, 1.5) * 30 * minuteMs, () => {
        if (isOver) return
        downUntilMs = clock.elapsedMs() + between(0.2, 1) * wish.downMs
        for (const server of servers) {
          kill(server)
          start()
        }
        goDownLater()
      })
    }

    async function turn(server: Server, journal: Set<Write>): Promise<void> {
      for (const write of journal) if (write.state === 'sending') await settle(server, write, journal)
      if (isOver && journal.size === 0) return
      const write = [...journal][0] ?? newWrite(journal)
      try {
        await send(server, write, journal)
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error
        // Nothing was sent.
        write.state = 'to do'
      }
    }

    async function send(server: Server, write: Write, journal: Set<Write>): Promise<void> {
      const header = await server.provider.fetchHeader?.(place)
      const prepared = await server.provider.prepare(
        place,
        [{ kind: 'add', rows: [[write.id]] }],
        header?.version ?? '',
      )
      if (prepared === 'conflict' || 'changeAt' in prepared) return
      Object.assign(write, { state: 'sending', fence: prepared.fence })
      const committed = await prepared.commit().catch((error: unknown) => {
        if (error instanceof OutcomeUnknown) return 'unknown' as const
        throw error
      })
      if (committed === 'unknown') await settle(server, write, journal)
      else if (committed.outcome === 'applied') finish(write, journal)
      else if (committed.outcome === 'conflict') write.state = 'to do'
      else throw new Error(`Google refused: ${committed.details}`)
      await prepared.discard()
    }
  }

  async function settle(server: Server, write: Write, journal: Set<Write>): Promise<void> {
    for (;;) {
      const fate = await server.provider.settle(place, write.fence).catch(() => null)
      if (fate === null) await delay(1_000)
      else {
        played.settled[fate]++
        if (fate === 'applied') finish(write, journal)
        else write.state = 'to do'
        return
      }
    }
  }

  function newWrite(journal: Set<Write>): Write {
    const write: Write = { id: `row ${writes.length}`, state: 'to do', fence: '' }
    writes.push(write)
    journal.add(write)
    return write
  }

  function finish(write: Write, journal: Set<Write>): void {
    write.state = 'done'
    journal.delete(write)
  }

  function newServer(secret: string): Server {
    const bornMs = clock.elapsedMs()
    const { promise: died, resolve } = Promise.withResolvers<'died'>()
    const sealing = createSealing(secret, [])
    const server: Server = {
      provider: undefined as never,
      isDead: false,
      skewMs: oneOf(skewsMs),
      died,
      die() {
        server.isDead = true
        resolve('died')
      },
    }
    const timers: Timers = {
      after: (delayMs, work) => time.timers.after(delayMs, () => server.isDead || work()),
    }
    const its: Clock = {
      nowMs: () => clock.nowMs() + server.skewMs,
      elapsedMs: () => clock.elapsedMs() - bornMs,
    }
    const { provider } = createGoogle({
      settings: {
        client: { clientId: 'client', clientSecret: 'secret' },
        endpoint: 'http://google.test',
        scope: 'spreadsheets',
      },
      store: credentials,
      share: createOwnValues(its),
      sealing: { ...sealing, open: () => 'refresh token' },
      clock: its,
      observe: () => {},
      timers,
      random,
      rations: plenty,
      transport: transportOf(server),
    })
    server.provider = provider
    return server
  }

  /** Somebody corrects the machine's time. */
  function stepLater(server: Server): void {
    time.timers.after(between(0.1, 2) * 5 * minuteMs, () => {
      if (isOver || server.isDead) return
      if (random() < 0.5) server.skewMs += oneOf([-60, -11, 11, 60]) * minuteMs
      stepLater(server)
    })
  }

  function transportOf(server: Server): Transport {
    return {
      async exchange({ method, url, body, signal }) {
        const { pathname, searchParams } = new URL(url)
        if (server.isDead) return never()
        await delay(between(20, 150))
        if (pathname === '/token') {
          return answerOf(200, { access_token: 'token', expires_in: 3_600, scope, token_type: 'Bearer' })
        }
        const call = () =>
          world.call({
            method,
            path: pathname,
            query: searchParams,
            body: body === undefined ? undefined : JSON.parse(body),
            user: owner,
          })
        const isBatch = pathname.endsWith(':batchUpdate')
        if (isBatch) batchesAtMs.push(clock.elapsedMs())
        const fate =
          isBatch && random() < wish.unanswered ? oneOf(['lost', 'late', 'late', 'never'] as const) : null
        if (fate === 'lost') call()
        if (fate === 'late') {
          played.late++
          time.timers.after(between(0, random() < 0.3 ? 20_000 : latestMs), () => {
            if (call().status !== 200) played.refusedLate++
          })
        }
        if (fate !== null) {
          await delay(between(200, 10_000))
          if (server.isDead || signal.aborted) return never()
          throw new ExchangeLost('no_answer', 'silent')
        }
        const { status, body: told } = call()
        const answer = answerOf(status, told)
        await delay(between(20, 150))
        return server.isDead ? never() : answer
      },
      close() {},
    }
  }

  function answerOf(status: number, told: unknown) {
    const headers = { 'content-type': 'application/json', date: new Date(clock.nowMs()).toUTCString() }
    const bytes = new TextEncoder().encode(JSON.stringify(told))
    return { status, headers, body: Buffer.from(bytes.buffer) }
  }

  /** A sheet of thousands of rows would take its time: now and then somebody takes out those at its beginning. */
  function archive(): void {
    time.timers.after(10 * minuteMs, () => {
      takeOut(cells().length - 1 - 50)
      if (!isOver) archive()
    })
  }

  function takeOut(count: number): void {
    if (count <= 0) return
    for (const id of cells().slice(1, 1 + count)) timesThere.set(id, (timesThere.get(id) ?? 0) + 1)
    const range = { sheetId: 0, dimension: 'ROWS', startIndex: 1, endIndex: 1 + count }
    const answer = ask('POST', ':batchUpdate', { requests: [{ deleteDimension: { range } }] })
    if (answer.error) throw new Error(answer.error.message)
  }

  function countMarkers(): void {
    const all = metadata()
    const characters = all.reduce(
      (sum, { metadataKey, metadataValue }) => sum + metadataKey.length + metadataValue.length,
      0,
    )
    const lately = batchesAtMs.filter((atMs) => atMs > clock.elapsedMs() - countedMs).length
    markers.beyond = Math.max(markers.beyond, all.length - lately)
    markers.most = Math.max(markers.most, all.length)
    markers.mostCharacters = Math.max(markers.mostCharacters, characters)
    if (!isOver) time.timers.after(minuteMs, countMarkers)
  }

  function metadata(): { metadataKey: string; metadataValue: string }[] {
    return (
      ask('POST', '/developerMetadata:search', {
        dataFilters: [{ developerMetadataLookup: { metadataKey: 'rowport' } }],
      }).matchedDeveloperMetadata?.map(
        ({ developerMetadata }: { developerMetadata: never }) => developerMetadata,
      ) ?? []
    )
  }

  function cells(): string[] {
    return (ask('GET', '/values/Items').values ?? []).map(([id]: string[]) => id)
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
  function ask(method: string, path: string, body?: unknown): any {
    const query = new URLSearchParams()
    return world.call({ method, path: `/v4/spreadsheets/${spreadsheetId}${path}`, query, body, user: owner })
      .body
  }

  function delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => time.timers.after(delayMs, resolve))
  }
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => {})
}
