import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../errors.ts'
import type { Facts } from '../store/admission/admission-facts.ts'
import { type AdmissionCall, judge } from './judge.ts'
import { defaultPlans } from './plans.ts'

const yesNo = [true, false]

test('every combination of conditions is refused by the first that fails, in the order of the contract', () => {
  let combinations = 0
  for (const form of ['a', 'b'] as const)
    for (const hasAccount of yesNo)
      for (const hasSheet of yesNo)
        for (const isPublic of yesNo)
          for (const liveOnly of yesNo)
            for (const sent of ['none', 'bad', 'live', 'test'] as const)
              for (const canWrite of yesNo)
                for (const paused of yesNo)
                  for (const plan of ['free', 'pro'])
                    for (const intent of ['read', 'write'] as const) {
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
                            }
                          : null,
                        key: isGood
                          ? { id: 'key', mode: sent, scope: canWrite ? 'read-write' : 'read' }
                          : null,
                      }
                      const call: AdmissionCall = {
                        address:
                          form === 'a' ? { form, accountSlug: 'x', sheetSlug: 'y' } : { form, sheetId: 'z' },
                        keyHash: sent === 'none' ? null : 'something',
                        intent,
                      }
                      const isWrite = intent === 'write'
                      const inOrder: [code: string, fails: boolean][] = [
                        ['account_not_found', form === 'a' && !hasAccount],
                        ['sheet_not_found', !hasSheet],
                        ['api_key_required', sent === 'none' && (isWrite || !isPublic)],
                        ['invalid_api_key', sent === 'bad' || (sent === 'test' && liveOnly)],
                        ['sheet_paused', paused],
                        ['write_api_not_enabled', isWrite && plan === 'free'],
                        ['insufficient_scope', isWrite && !canWrite],
                      ]
                      const expected = inOrder.find(([, fails]) => fails)?.[0] ?? 'admitted'
                      const verdict = judge(call, facts, defaultPlans)
                      const said = verdict instanceof Refusal ? verdict.code : 'admitted'
                      assert.equal(said, expected, JSON.stringify({ call, facts }))
                      combinations++
                    }
  assert.equal(combinations, 1_280)
})
