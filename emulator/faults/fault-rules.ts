import { seededRandom } from '../seeded-random.ts'
import { type CallFacts, matches } from './call-match.ts'
import type { Fault } from './fault.ts'

export interface FaultRules {
  add(fault: Fault): { id: number }
  list(): (Fault & { id: number; struck: number })[]
  clear(): void
  /** The first rule that strikes this call; asking uses up one of its times. */
  strike(call: CallFacts): Fault | undefined
}

export function createFaultRules(): FaultRules {
  let lastId = 0
  let rules: { id: number; fault: Fault; random: () => number; struck: number }[] = []
  return {
    add(fault) {
      lastId += 1
      rules.push({ id: lastId, fault, random: seededRandom(fault.seed), struck: 0 })
      return { id: lastId }
    },
    list: () => rules.map(({ id, fault, struck }) => ({ id, ...fault, struck })),
    clear() {
      rules = []
    },
    strike(call) {
      for (const rule of rules) {
        const { times, rate } = rule.fault
        if (times !== undefined && rule.struck >= times) continue
        if (!matches(rule.fault.match, call)) continue
        // Drawn for every matching call, so that the n-th call meets the same fate in every run.
        if (rule.random() >= rate) continue
        rule.struck += 1
        return rule.fault
      }
      return undefined
    },
  }
}
