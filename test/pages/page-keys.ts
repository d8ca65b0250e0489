import type { PolicyWish } from '../../src/management/keys/key-policy.ts'
import { done, type Rowport } from '../harness.ts'

export const home = 'https://shop.example'

/** A publishable key of `acme`, for everything that the wish does not bound. */
export async function createPageKey(
  { workshop }: Rowport,
  sheet: string,
  wish: Partial<PolicyWish> = {},
): Promise<{ value: string; id: string }> {
  const policy: PolicyWish = { may: ['read', 'add'], origins: [home], ...wish }
  const asked = { accountSlug: 'acme', sheetSlug: sheet, name: 'page', mode: 'live' as const, policy }
  const { value, record } = done(await workshop.keys.createPublishable(asked))
  return { value, id: record.id }
}

export function fromPage(key: { value: string }, origin: string = home): Record<string, string> {
  return { Authorization: `Bearer ${key.value}`, Origin: origin }
}
