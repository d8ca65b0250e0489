import { createFallOver } from '../../../src/shared-state/fall-over.ts'
import { createFallingOverWindows } from '../../../src/shared-state/rate-windows/falling-over-windows.ts'
import { createLossRecord } from '../../../src/shared-state/rate-windows/loss-record.ts'
import type { RateWindow } from '../../../src/shared-state/rate-windows/rate-windows.ts'
import { createRandom, createVirtualTime } from '../../writing/simulation/virtual-time.ts'
import { createMemoryRegisters } from '../memory-registers.ts'
import { createMemoryFleetingWindows, createMemoryStandInWindows } from './memory-windows.ts'

export interface HistoryWish {
  /** Redis is killed and comes back empty or from a copy, stands still, or is out of reach for some; instances stand still. */
  hasLosses: boolean
  /** Everyone waits for a processor now and then, also Redis; nothing is lost. */
  isBusy: boolean
  minutes: number
}

export interface Played {
  limit: number
  /** When each request that was let through was counted, in the order of time. */
  admittedAtMs: number[]
  /** The same for requests that were refused. */
  refusedAtMs: number[]
  losses: number
  /** How often an instance took Redis for lost. */
  moves: number
  /** Longest that a request waited while nothing but Redis was in trouble. */
  longestMs: number
  log: string[]
}

interface Machine {
  standsStillUntilMs: number
  reach: 'there' | 'refused' | 'silent'
  /** Of the server that its connection leads to. */
  life: string | null
  hasNoRequestsUntilMs: number
}

export const windowMs = 60_000
const startMs = 1_000_000_000
const clocksDifferByMs = 10_000_000

/** One random history of several instances that count one account's requests together; the same seed gives the same. */
export async function play(seed: number, { hasLosses, isBusy, minutes }: HistoryWish): Promise<Played> {
  const random = createRandom(seed)
  const between = (least: number, most: number) => least + random() * (most - least)
  const anyOf = (count: number) => Math.floor(random() * count)
  const time = createVirtualTime(startMs)
  const clockOfItsOwn = () => {
    const aheadMs = between(-clocksDifferByMs, clocksDifferByMs)
    return { nowMs: () => time.nowMs() + aheadMs, elapsedMs: () => time.nowMs() - aheadMs }
  }
  const later = (thanMs: number, byMs: number) => Math.max(thanMs, time.nowMs() + between(1, byMs))
  const endMs = startMs + minutes * 60_000
  const limit = 2 + anyOf(8)
  // Some days are worse than others.
  const calmForMs = [10_000, 60_000, 400_000][anyOf(3)] ?? 0
  const played: Played = {
    limit,
    admittedAtMs: [],
    refusedAtMs: [],
    losses: 0,
    moves: 0,
    longestMs: 0,
    log: [],
  }
  const say = (what: string) => played.log.push(`${((time.nowMs() - startMs) / 1_000).toFixed(3)} ${what}`)

  const redis = createMemoryFleetingWindows(clockOfItsOwn())
  let redisStandsStillUntilMs = 0
  const storeClock = clockOfItsOwn()
  const stored = createMemoryStandInWindows(storeClock)
  const storedRegisters = createMemoryRegisters(storeClock)
  let storeIsSlowUntilMs = 0
  const countedAtMs = new WeakMap<RateWindow, number>()
  const machines = Array.from({ length: 2 + anyOf(2) }, (): Machine => {
    return { standsStillUntilMs: 0, reach: 'there', life: redis.life(), hasNoRequestsUntilMs: 0 }
  })
  const instances = machines.map((machine, at) => startInstance(machine, at))

  const doings = [client(), client(), client()]
  if (hasLosses) doings.push(troubles())
  if (isBusy) doings.push(busyness())
  let isOver = false
  void Promise.all(doings).then(() => {
    isOver = true
  })
  const lastMs = endMs + 10 * 60_000
  await time.run(() => isOver || time.nowMs() > lastMs)
  if (!isOver) throw new Error(`seed ${seed}: somebody was never answered`)
  for (const { fallOver } of instances) fallOver.close()
  played.admittedAtMs.sort((one, other) => one - other)
  played.refusedAtMs.sort((one, other) => one - other)
  return played

  function startInstance(machine: Machine, at: number) {
    const clock = clockOfItsOwn()
    const after = (delayMs: number, work: () => void): (() => void) => {
      let cancel = time.after(delayMs, due)
      return () => cancel()

      function due(): void {
        const lateMs = machine.standsStillUntilMs - time.nowMs()
        if (lateMs > 0) cancel = time.after(lateMs, due)
        else work()
      }
    }
    const toRedis = <T>(work: () => Promise<T>) => askRedis(machine, work)
    const toStore = <T>(work: () => Promise<T>) => askStore(machine, work)
    const fallOver = createFallOver({
      ping: () => toRedis(async () => {}),
      clock,
      observe(seen) {
        if (seen.event !== 'rate_windows_moved') return
        if (seen.to === 'store') played.moves++
        say(`${at} counts in ${seen.to}`)
      },
      after,
    })
    const registers = {
      readRegister: (name: string) => toStore(() => storedRegisters.readRegister(name)),
      swapRegister: (...given: Parameters<typeof storedRegisters.swapRegister>) =>
        toStore(() => storedRegisters.swapRegister(...given)),
    }
    const life = () => machine.life
    const windows = createFallingOverWindows({
      first: {
        life,
        takeFromWindow: (...given) => toRedis(() => noted(redis.takeFromWindow(...given))),
        readWindow: (...given) => toRedis(() => redis.readWindow(...given)),
      },
      second: {
        takeFromWindow: (...given) => toStore(() => noted(stored.takeFromWindow(...given))),
        takeFromOpen: (...given) => toStore(() => noted(stored.takeFromOpen(...given))),
        readWindow: (...given) => toStore(() => stored.readWindow(...given)),
        countOfLast: (...given) => toStore(() => stored.countOfLast(...given)),
      },
      registers,
      losses: createLossRecord({ registers, clock, life }),
      fallOver,
    })
    return { windows, fallOver }
  }

  async function noted<T>(answer: Promise<T>): Promise<T> {
    const window = await answer
    if (window && typeof window === 'object') countedAtMs.set(window as unknown as RateWindow, time.nowMs())
    return window
  }

  async function awake(machine: Machine): Promise<void> {
    while (time.nowMs() < machine.standsStillUntilMs)
      await time.delay(machine.standsStillUntilMs - time.nowMs())
  }

  async function askRedis<T>(machine: Machine, work: () => Promise<T>): Promise<T> {
    const { life } = machine
    if (life === null) throw new Error('There is no connection')
    if (machine.reach === 'silent') await new Promise(() => {})
    await time.delay(between(0.1, 1.5))
    while (redis.life() === life && time.nowMs() < redisStandsStillUntilMs)
      await time.delay(redisStandsStillUntilMs - time.nowMs())
    const answer = redis.life() === life ? await work() : null
    await time.delay(between(0.1, 1.5))
    await awake(machine)
    if (redis.life() !== life || answer === null) throw new Error('The connection broke')
    return answer
  }

  async function askStore<T>(machine: Machine, work: () => Promise<T>): Promise<T> {
    await time.delay(between(0.1, 2))
    if (time.nowMs() < storeIsSlowUntilMs) await time.delay(between(0, storeIsSlowUntilMs - time.nowMs()))
    const answer = await work()
    await time.delay(between(0.1, 2))
    await awake(machine)
    return answer
  }

  async function client(): Promise<void> {
    while (time.nowMs() < endMs) {
      await time.delay(between(0, random() < 0.5 ? 4_000 : 25_000))
      const seen = await ask(anyOf(machines.length), random() < 0.5 ? 1 : limit + 1)
      if (!seen || random() < 0.5) continue
      // Some aim at the end of a window: what is left of it just before, and all of the next one just after.
      await time.delay(Math.max(0, seen.resetAtMs - seen.nowMs - between(5, 400)))
      await ask(anyOf(machines.length), limit)
      await time.delay(between(10, 500))
      await ask(anyOf(machines.length), limit)
      // The worst moment for a loss.
      if (!hasLosses || random() < 0.7) continue
      const machine = machines[anyOf(machines.length)]
      if (machine) void (random() < 0.5 ? killRedis(0) : cutOff(machine))
      await time.delay(between(1, 1_500))
      await ask(anyOf(machines.length), limit)
    }
  }

  async function ask(at: number, requests: number): Promise<RateWindow | null> {
    const instance = instances[at]
    const machine = machines[at]
    if (!instance || !machine || time.nowMs() < machine.hasNoRequestsUntilMs) return null
    const askedMs = time.nowMs()
    const answers = await Promise.all(
      Array.from({ length: requests }, () => instance.windows.takeFromWindow('a', limit, windowMs)),
    )
    for (const answer of answers) {
      const atMs = countedAtMs.get(answer)
      if (atMs === undefined) throw new Error('An answer that nobody gave')
      const heard = answer.isAdmitted ? played.admittedAtMs : played.refusedAtMs
      heard.push(atMs)
    }
    const wasTroubled = machine.standsStillUntilMs > askedMs || storeIsSlowUntilMs > askedMs
    if (!wasTroubled) played.longestMs = Math.max(played.longestMs, time.nowMs() - askedMs)
    say(
      `${at} was asked ${requests} times, let ${answers.filter(({ isAdmitted }) => isAdmitted).length} through`,
    )
    return answers.at(-1) ?? null
  }

  async function troubles(): Promise<void> {
    while (time.nowMs() < endMs) {
      await time.delay(between(100, random() < 0.3 ? 8_000 : calmForMs))
      const machine = machines[anyOf(machines.length)]
      if (!machine) continue
      const kind = random()
      if (kind < 0.4) await killRedis(3_000)
      else if (kind < 0.55) {
        played.losses++
        redisStandsStillUntilMs = later(redisStandsStillUntilMs, random() < 0.7 ? 12_000 : 90_000)
        say('Redis stands still')
        await time.delay(between(100, 12_000))
      } else if (kind < 0.75) await cutOff(machine)
      else if (kind < 0.85) machine.hasNoRequestsUntilMs = time.nowMs() + between(5_000, 90_000)
      else if (kind < 0.95)
        machine.standsStillUntilMs = later(machine.standsStillUntilMs, random() < 0.7 ? 8_000 : 90_000)
      else storeIsSlowUntilMs = later(storeIsSlowUntilMs, 8_000)
    }
  }

  async function killRedis(copiedAtMostMsAgo: number): Promise<void> {
    if (random() < 0.5) redis.copy()
    await time.delay(between(0, copiedAtMostMsAgo))
    if (redis.life() === null) return
    played.losses++
    redis.die()
    for (const machine of machines) machine.life = null
    say('Redis is killed')
    await time.delay(between(20, random() < 0.5 ? 1_000 : 15_000))
    if (random() < 0.5) redis.startEmpty()
    else redis.startFromCopy()
    say('Redis is back')
    for (const machine of machines) time.after(between(1, 1_000), () => connect(machine))
  }

  async function cutOff(machine: Machine): Promise<void> {
    played.losses++
    machine.reach = random() < 0.5 ? 'refused' : 'silent'
    if (machine.reach === 'refused') machine.life = null
    say(`Redis is out of reach for one: ${machine.reach}`)
    await time.delay(between(100, random() < 0.7 ? 30_000 : 150_000))
    machine.reach = 'there'
    connect(machine)
    say('and within reach again')
  }

  function connect(machine: Machine): void {
    if (machine.reach !== 'refused') machine.life = redis.life()
  }

  async function busyness(): Promise<void> {
    while (time.nowMs() < endMs) {
      await time.delay(between(1, 300))
      const isRedisServed = time.nowMs() > redisStandsStillUntilMs + 5
      if (isRedisServed && random() < 0.5) redisStandsStillUntilMs = later(0, 250)
      const machine = machines[anyOf(machines.length)]
      if (machine && random() < 0.5) machine.standsStillUntilMs = later(machine.standsStillUntilMs, 400)
    }
  }
}

/** The most that was let through in any minute. */
export function mostInAMinute(atMs: readonly number[]): number {
  let from = 0
  let most = 0
  for (const [to, ms] of atMs.entries()) {
    while (ms - (atMs[from] ?? 0) >= windowMs) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}
