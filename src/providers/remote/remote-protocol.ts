import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { Access } from './access-tokens.ts'
import type { HttpAnswer } from './transport.ts'

/** How one provider says what any of them may say. */
export interface RemoteProtocol<Service extends string> {
  /** What people call the provider. */
  name: string
  /** Whether calls of this service count against the budget. */
  isRationed(service: Service): boolean
  /** The provider itself spoke, and to its end: half an answer and the page of a proxy are worth another try. */
  isWhole(answer: HttpAnswer): boolean
  /** How a call says in whose name it comes; without it, by a bearer token. */
  authorisation?(access: Access): Record<string, string>
  /** The access token is not taken, though its time is not over. */
  isUnauthenticated(answer: HttpAnswer): boolean
  /** Why the owner's access has ended, for the log; null when it has not, or not for that which this service is for. */
  endOfAccess(answer: HttpAnswer, service: Service): string | null
  /** Whose ration the provider says is used up; null when it is something else. */
  usedUpRation(answer: HttpAnswer): 'user' | 'project' | null
  /** Whether an answer that is not good makes it certain that nothing was done. */
  isRefusal(answer: HttpAnswer): boolean
  /** Says an answer that is not what was asked for in words for the owner; `credentialId`: in whose name it was asked. */
  failureOf(answer: HttpAnswer, credentialId: string | null): ProviderFailure
  tooLarge(cause: unknown): ProviderFailure
}

export function isGood(status: number): boolean {
  return status >= 200 && status < 300
}

/** The provider itself spoke, whatever it said. */
export function isAnswered(answer: HttpAnswer, { isWhole }: Pick<RemoteProtocol<never>, 'isWhole'>): boolean {
  return answer.status < 500 && isWhole(answer)
}

export function unreadable(name: string): ProviderFailure {
  return new ProviderFailure(`${name}'s response could not be read`, {
    isPassing: true,
    retryAfterSeconds: 5,
  })
}

const spaces = [0x20, 0x0a, 0x0d, 0x09]
const openBrace = 0x7b
const closeBrace = 0x7d

/** A look at both ends of what should be an object, which costs nothing: for `isWhole` of those who speak JSON. */
export function isWholeJson({ headers, body }: HttpAnswer): boolean {
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) return false
  const first = body.findIndex((byte) => !spaces.includes(byte))
  const last = body.findLastIndex((byte) => !spaces.includes(byte))
  return body[first] === openBrace && body[last] === closeBrace
}
