import { seededRandom } from '../seeded-random.ts'
import { type CallFacts, matches } from './call-match.ts'
import type { Fault } from './fault.ts'

export interface FaultRules {
  /** Throws an Error with a readable message where the rates of one match exceed 1. */
  add(fault: Fault): { id: number }
  list(): (Fault & { id: number; struck: number })[]
  clear(): void
  /** The first rule that strikes this call; asking uses up one of its times. */
  strike(call: CallFacts): Fault | undefined
}

interface Rule {
  id: number
  fault: Fault
  draw: Draw
  /** The part of [0, 1) that is its own; rules of one draw lie side by side, so that their rates add up. */
  from: number
  struck: number
}

interface Draw {
  random: () => number
  key: string
}

export function createFaultRules(): FaultRules {
  let lastId = 0
  let rules: Rule[] = []

  return {
    add(fault) {
      const key = keyOf(fault)
      const siblings = rules.filter((rule) => rule.draw.key === key && fault.rate < 1)
      const from = siblings.reduce((sum, rule) => sum + rule.fault.rate, 0)
      if (from + fault.rate > 1 + 1e-9)
        throw new Error(`the rates of this match would be ${from + fault.rate}`)
      const draw = siblings[0]?.draw ?? { random: seededRandom(fault.seed), key }
      lastId += 1
      rules.push({ id: lastId, fault, draw, from, struck: 0 })
      return { id: lastId }
    },
    list: () => rules.map(({ id, fault, struck }) => ({ id, ...fault, struck })),
    clear() {
      rules = []
    },
    strike(call) {
      // Drawn for every matching call, whoever strikes it: the n-th call meets the same fate in every run.
      const drawn = new Map<Draw, number>()
      const matching = rules.filter((rule) => matches(rule.fault.match, call))
      for (const { draw } of matching) if (!drawn.has(draw)) drawn.set(draw, draw.random())
      const struck = matching.find(({ fault, draw, from, struck }) => {
        const at = drawn.get(draw) ?? 1
        return (fault.times === undefined || struck < fault.times) && at >= from && at < from + fault.rate
      })
      if (!struck) return undefined
      struck.struck += 1
      return struck.fault
    },
  }
}

/** Certain faults draw alone: several of them on one match strike one after the other, each as often as it may. */
function keyOf({ match, seed, rate }: Fault): string {
  return JSON.stringify([rate < 1, seed, { ...match, path: match.path?.source }])
}
