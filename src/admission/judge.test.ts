import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../errors.ts'
import type { Facts } from '../store/admission/admission-facts.ts'
import type { KeyPolicy } from '../store/keys/key-policy.ts'
import type { KeyScope } from '../store/sql/schema.ts'
import { type AdmissionCall, judge } from './judge.ts'
import type { NeededRight } from './key-policy.ts'
import { defaultPlans } from './plans.ts'

const yesNo = [true, false]

const home = 'https://shop.example'
const policy = {
  origins: [home],
  readColumns: null,
  writeColumns: null,
  where: null,
  set: [],
  maxRows: 100,
  requestsPerMinute: 60,
}
const secret = { policy: null, origin: null, isHome: true }
/** Secret keys of either scope, and publishable ones with all they may be allowed, from home and from elsewhere. */
const rightsOfKeys: readonly {
  scope: KeyScope
  policy: KeyPolicy | null
  origin: string | null
  isHome: boolean
}[] = [
  { ...secret, scope: 'read' },
  { ...secret, scope: 'read-write' },
  ...[['read'] as const, ['add'] as const, ['read', 'add'] as const].flatMap((may) =>
    [home, 'https://elsewhere.example', null].map((origin) => ({
      // Its scope says nothing: the policy alone bounds it.
      scope: 'read-write' as const,
      policy: { ...policy, may },
      origin,
      isHome: origin === home,
    })),
  ),
  { scope: 'read', policy: { ...policy, may: ['read'], origins: 'any' }, origin: null, isHome: true },
]
const wishes = [
  { intent: 'read', pageRight: 'read' },
  { intent: 'read', pageRight: 'never' },
  { intent: 'write', pageRight: 'add' },
  { intent: 'write', pageRight: 'never' },
] as const

function isAllowed({ may }: KeyPolicy, right: NeededRight): boolean {
  return right !== 'never' && may.includes(right)
}

test('every combination of conditions is refused by the first that fails, in the order of the contract', () => {
  let combinations = 0
  for (const form of ['a', 'b'] as const)
    for (const hasAccount of yesNo)
      for (const hasSheet of yesNo)
        for (const isPublic of yesNo)
          for (const liveOnly of yesNo)
            for (const sent of ['none', 'bad', 'live', 'test'] as const)
              for (const rights of rightsOfKeys)
                for (const paused of yesNo)
                  for (const plan of ['free', 'pro'])
                    for (const { intent, pageRight } of wishes) {
                      // A sheet without its account cannot be stored; by id, an account without the sheet is not seen.
                      if ((hasSheet && !hasAccount) || (form === 'b' && hasAccount && !hasSheet)) continue
                      const isGood = sent === 'live' || sent === 'test'
                      const facts: Facts = {
                        account: hasAccount
                          ? {
                              id: 'acc',
                              createdAtMs: 0,
                              lookedUpAtMs: 0,
                              plan,
                              requestsPerMinute: null,
                              requestsPerMonth: null,
                            }
                          : null,
                        sheet: hasSheet
                          ? {
                              id: 'sh',
                              paused,
                              access: isPublic ? 'public-read' : 'private',
                              accepts: liveOnly ? 'live' : 'both',
                              cacheSeconds: 10,
                              staleIfErrorSeconds: 0,
                              needsReconnect: false,
                              writeSeq: 0,
                              keyColumn: null,
                              autoKey: 'none',
                            }
                          : null,
                        key: isGood
                          ? { id: 'key', mode: sent, scope: rights.scope, policy: rights.policy }
                          : null,
                      }
                      const call: AdmissionCall = {
                        address:
                          form === 'a' ? { form, accountSlug: 'x', sheetSlug: 'y' } : { form, sheetId: 'z' },
                        keyHash: sent === 'none' ? null : 'something',
                        intent,
                        pageRight,
                        origin: rights.origin,
                      }
                      const { policy, scope, isHome } = rights
                      const isWrite = intent === 'write'
                      const inOrder: [code: string, fails: boolean][] = [
                        ['account_not_found', form === 'a' && !hasAccount],
                        ['sheet_not_found', !hasSheet],
                        ['api_key_required', sent === 'none' && (isWrite || !isPublic)],
                        ['invalid_api_key', sent === 'bad' || (sent === 'test' && liveOnly)],
                        ['origin_not_allowed', isGood && policy !== null && !isHome],
                        ['sheet_paused', paused],
                        ['write_api_not_enabled', isWrite && plan === 'free'],
                        ['insufficient_scope', policy === null && isWrite && scope === 'read'],
                        ['insufficient_scope', isGood && policy !== null && !isAllowed(policy, pageRight)],
                      ]
                      const expected = inOrder.find(([, fails]) => fails)?.[0] ?? 'admitted'
                      const verdict = judge(call, facts, defaultPlans)
                      const said = verdict instanceof Refusal ? verdict.code : 'admitted'
                      assert.equal(said, expected, JSON.stringify({ call, facts }))
                      combinations++
                    }
  assert.equal(combinations, 15_360)
})
