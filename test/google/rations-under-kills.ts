import { setImmediate as turn } from 'node:timers/promises'
import { seededRandom } from '../../emulator/seeded-random.ts'
import { createGoogleBudget } from '../../src/providers/google/client/google-budget.ts'
import { createDeadline } from '../../src/providers/remote/deadline.ts'
import type { Budget, BudgetLimits } from '../../src/providers/remote/rations/budget.ts'
import { createRegisterValue } from '../../src/shared-state/registers/register-value.ts'
import type { SharedRegisters } from '../../src/shared-state/registers/shared-registers.ts'
import type { Timers } from '../../src/timers.ts'
import { createMemoryRegisters } from '../cluster/memory-registers.ts'
import { createVirtualTime } from './virtual-time.ts'

/** A few minutes of several servers who spend from one ration, and of all that can go wrong meanwhile, by the dice. */
export interface PlayedRations {
  /** The most calls that arrived at Google in any minute. */
  busiest: { owner: number; project: number }
  /** The longest time in which somebody waited for the refused ration, an owner's or all owners', and nobody was let through. */
  longestSilenceMs: number
  calls: number
  refusals: number
  kills: number
  killsInTrial: number
  frozen: number
  /** Times that the store was out of reach; of what was asked at that moment, some was done and its answer lost. */
  absences: number
}

export interface RationsWish {
  limits: BudgetLimits
  /** Whose ration Google refuses. */
  refused: 'user' | 'project'
  /** Clients of each owner at each server, and how long each of them waits before it asks again. */
  clients: number
  pauseMs: number
  minutes: number
}

interface Server {
  budget: Budget
  isDead: boolean
  /** Calls under way, each with whether it is the first after a refusal. */
  underWay: Set<{ isTrial: boolean }>
}

const owners = ['ada', 'ben', 'eve']
const servers = 3
export const longestAbsenceMs = 3_000

export async function playRations(seed: number, wish: RationsWish): Promise<PlayedRations> {
  const random = seededRandom(seed)
  const between = (leastMs: number, mostMs: number) => leastMs + random() * (mostMs - leastMs)
  const time = createVirtualTime()
  const { clock } = time
  const place = createMemoryRegisters(clock)
  const played = { calls: 0, refusals: 0, kills: 0, killsInTrial: 0, frozen: 0, absences: 0 }
  const arrivals: { owner: string; atMs: number }[] = []
  const silence = createSilence(clock.elapsedMs)
  const living = new Set<Server>()
  /** Somebody else spends from the ration until then. */
  const spentUntilMs = new Map<string, number>()
  /** By whose ration it is. */
  const isRefusedLast = new Map<string, boolean>()
  const rationOf = (owner: string) => (wish.refused === 'project' ? 'all' : owner)
  let isOver = false

  for (let at = 0; at < servers; at++) start()
  plan(6_000, kill)
  plan(5_000, spend)
  plan(45_000, goAway)
  await time.pass(wish.minutes * 60_000)
  isOver = true
  await turn()
  return {
    ...played,
    busiest: {
      owner: Math.max(...owners.map((owner) => busiestMinute(arrivals.filter((one) => one.owner === owner)))),
      project: busiestMinute(arrivals),
    },
    longestSilenceMs: silence.longestMs(),
  }

  function plan(aboutEveryMs: number, work: () => void): void {
    time.timers.after(between(0.1, 1.9) * aboutEveryMs, () => {
      if (isOver) return
      work()
      plan(aboutEveryMs, work)
    })
  }

  function start(): void {
    const server: Server = { budget: undefined as never, isDead: false, underWay: new Set() }
    const timers: Timers = {
      after: (delayMs, work) => time.timers.after(delayMs, () => server.isDead || work()),
    }
    const registers: SharedRegisters = {
      readRegister: (name) => onTheWay(server, () => place.readRegister(name)),
      swapRegister: (...given) => onTheWay(server, () => place.swapRegister(...given)),
    }
    server.budget = createGoogleBudget({
      timers,
      observe: () => {},
      random,
      limits: wish.limits,
      share: (name, form) =>
        createRegisterValue({ name, form, registers, clock, after: timers.after, random }),
    })
    living.add(server)
    for (const owner of owners) {
      for (let client = 0; client < wish.clients; client++) {
        timers.after(between(0, wish.pauseMs), () => void ask(server, owner, timers))
      }
    }
  }

  /** To where the book is kept and back; a server that is killed hears no answer, though what it wrote is written. */
  async function onTheWay<T>(server: Server, work: () => Promise<T>): Promise<T> {
    await delay(between(0, 3))
    const answer = await (server.isDead ? never<T>() : work())
    await delay(between(0, 3))
    if (place.isAway) throw new Error('The answer was lost')
    return server.isDead ? never<T>() : answer
  }

  async function ask(server: Server, owner: string, timers: Timers): Promise<void> {
    if (isOver || server.isDead) return
    const again = () => timers.after(between(0.5, 1.5) * wish.pauseMs, () => void ask(server, owner, timers))
    const deadline = createDeadline(clock, timers, 15_000)
    const waiting = silence.wait(rationOf(owner), server)
    const given = await server.budget
      .take({ subject: owner, kind: 'read', isUrgent: random() < 0.3, deadline })
      .catch(() => null)
    deadline.end()
    waiting.end(given !== null)
    if (!given) return void again()
    played.calls++
    const call = { isTrial: isRefusedLast.get(rationOf(owner)) === true }
    server.underWay.add(call)
    await delay(between(20, 200))
    const isRefused = (spentUntilMs.get(rationOf(owner)) ?? 0) > clock.elapsedMs()
    if (isRefused) played.refusals++
    arrivals.push({ owner, atMs: clock.elapsedMs() })
    if (random() < 0.02) {
      played.frozen++
      await delay(10_000)
      if (server.isDead) return
      given.endCall('no_answer')
    } else {
      await delay(between(20, 200))
      if (server.isDead) return
      // In the order of a true call: the verdict first, then the place.
      const who = { subject: owner, kind: 'read' } as const
      isRefusedLast.set(rationOf(owner), isRefused)
      if (isRefused) server.budget.noteRefusal({ ...who, per: wish.refused })
      else server.budget.noteAcceptance(who)
      given.endCall('answered')
    }
    server.underWay.delete(call)
    again()
  }

  /** Often for one call, sometimes for some seconds. */
  function spend(): void {
    const whose = rationOf(owners[Math.floor(random() * owners.length)] ?? '')
    spentUntilMs.set(whose, clock.elapsedMs() + (random() < 0.7 ? 400 : between(1_000, 8_000)))
  }

  /** In the middle of a call if there is one, and of a trial rather than of another. */
  function kill(): void {
    const all = [...living]
    const inTrial = all.filter(({ underWay }) => [...underWay].some(({ isTrial }) => isTrial))
    const inCall = all.filter(({ underWay }) => underWay.size > 0)
    const among = inTrial.length > 0 ? inTrial : inCall.length > 0 ? inCall : all
    const victim = among[Math.floor(random() * among.length)]
    // One is left at least, so that somebody waits.
    if (!victim || living.size < 2) return
    played.kills++
    if (inTrial.length > 0) played.killsInTrial++
    victim.isDead = true
    living.delete(victim)
    silence.gone(victim)
    time.timers.after(between(500, 12_000), () => isOver || start())
  }

  function goAway(): void {
    if (place.isAway) return
    played.absences++
    place.isAway = true
    time.timers.after(between(10, longestAbsenceMs), () => {
      place.isAway = false
    })
  }

  function delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => time.timers.after(delayMs, resolve))
  }
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => {})
}

/** For each owner: since when somebody waits without anyone having been let through. */
function createSilence(elapsedMs: () => number) {
  const waiting = new Map<string, Set<{ server: object }>>()
  const sinceMs = new Map<string, number>()
  let longestMs = 0
  const note = (owner: string) => {
    const since = sinceMs.get(owner)
    if (since !== undefined) longestMs = Math.max(longestMs, elapsedMs() - since)
  }
  const leave = (owner: string, isGiven: boolean) => {
    note(owner)
    const isAnyone = (waiting.get(owner)?.size ?? 0) > 0
    if (!isAnyone) sinceMs.delete(owner)
    else if (isGiven) sinceMs.set(owner, elapsedMs())
  }
  return {
    wait(owner: string, server: object) {
      const one = { server }
      const all = waiting.get(owner) ?? new Set()
      waiting.set(owner, all.add(one))
      if (!sinceMs.has(owner)) sinceMs.set(owner, elapsedMs())
      return {
        end(isGiven: boolean) {
          if (all.delete(one)) leave(owner, isGiven)
        },
      }
    },
    gone(server: object) {
      for (const [owner, all] of waiting) {
        for (const one of all) if (one.server === server) all.delete(one)
        leave(owner, false)
      }
    },
    longestMs() {
      for (const owner of sinceMs.keys()) note(owner)
      return longestMs
    },
  }
}

function busiestMinute(arrivals: readonly { atMs: number }[]): number {
  const times = arrivals.map(({ atMs }) => atMs).sort((one, other) => one - other)
  let most = 0
  let from = 0
  for (const [at, atMs] of times.entries()) {
    while ((times[from] ?? atMs) <= atMs - 60_000) from++
    most = Math.max(most, at - from + 1)
  }
  return most
}
