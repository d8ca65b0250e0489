import type { Observe } from '../../../reporting/observe.ts'
import { createRemoteCalls, type RemoteCalls, type RemoteCallsParts } from '../../remote/remote-calls.ts'
import type { RemoteCall } from '../../remote/remote-exchange.ts'
import { isWholeJson, type RemoteProtocol } from '../../remote/remote-protocol.ts'
import {
  type Asker,
  failureOf,
  isScopeWithdrawn,
  isUnauthenticated,
  rationExceeded,
  readGoogleError,
  tooLarge,
} from './google-errors.ts'
import type { GoogleTime } from './google-time.ts'
import { isPublicAccess } from './public-access.ts'

export type GoogleService = 'sheets' | 'drive'
export type GoogleCalls = RemoteCalls<GoogleService>
export type GoogleCall = RemoteCall<GoogleService>

export interface GoogleCallsParts
  extends Omit<RemoteCallsParts<GoogleService>, 'protocol' | 'onCalled' | 'onAnswered'> {
  /** In whose name calls with this credential go. */
  askerOf(credentialId: string | null): Asker
  observe: Observe
  /** Hears it from every answer. */
  time: Pick<GoogleTime, 'hear'>
}

export function createGoogleCalls({ askerOf, observe, time, ...parts }: GoogleCallsParts): GoogleCalls {
  return createRemoteCalls({
    ...parts,
    protocol: googleProtocol(askerOf),
    onCalled: (call) => observe({ event: 'provider_called', provider: 'google', ...call }),
    onAnswered: ({ headers }, askedAtMs) => time.hear(headers.date, askedAtMs),
  })
}

function googleProtocol(askerOf: GoogleCallsParts['askerOf']): RemoteProtocol<GoogleService> {
  return {
    name: 'Google',
    authorisation: (access) =>
      isPublicAccess(access)
        ? { 'X-Goog-Api-Key': access.token }
        : { Authorization: `Bearer ${access.token}` },
    // Drive has a ration of its own, too large to be met.
    isRationed: (service) => service === 'sheets',
    isWhole: isWholeJson,
    isUnauthenticated: ({ status, body }) => isUnauthenticated(status, readGoogleError(body)),
    endOfAccess({ status, body }, service) {
      // Drive asks for scopes that a connection need not have.
      const isOver = service === 'sheets' && isScopeWithdrawn(status, readGoogleError(body))
      return isOver ? 'the owner withdrew the access to spreadsheets' : null
    },
    usedUpRation: ({ status, body }) => rationExceeded(status, readGoogleError(body)),
    isRefusal: ({ status, body }) => status < 500 && readGoogleError(body) !== null,
    failureOf: ({ status, body }, credentialId) =>
      failureOf(status, readGoogleError(body), askerOf(credentialId)),
    tooLarge,
  }
}
