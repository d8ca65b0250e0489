import type { IncomingMessage, ServerResponse } from 'node:http'
import { GoneMeanwhile } from '../errors.ts'
import { returnPathOf } from '../management/connections/owner-connection.ts'
import { randomBase62 } from '../secrets/random-base62.ts'
import { createAppFiles } from './app-files.ts'
import { fromConsent, type Onward, signInPath, toSignIn } from './consent-return.ts'
import type { DashboardParts } from './dashboard-parts.ts'
import { createDocs } from './docs/docs.ts'
import { createOwnerApi } from './owner-api/owner-api.ts'
import { contentPolicy, safetyHeaders } from './page-headers.ts'
import { type Site, siteAt } from './site.ts'

/** Door 2: the owner's API, the app that uses it, and the way to a provider and back. */
export interface Dashboard {
  /** What can be asked for at this path; null where there is nothing. */
  methodsAt(path: string): string[] | null
  /** `target`: path and query. */
  answer(request: IncomingMessage, response: ServerResponse, target: string): Promise<void>
  /** A page for people who followed a mistyped link. */
  answerNotFound(request: IncomingMessage, response: ServerResponse): Promise<void>
}

export interface DashboardDoorParts extends DashboardParts {
  /** Where the built app lies. */
  appFolder: string
  /** Where the Markdown of the docs lies. */
  docsFolder: string
}

export function createDashboard(parts: DashboardDoorParts): Dashboard {
  const { all } = parts.connections
  const consentOrigins = all.flatMap(({ consentOrigin }) => consentOrigin ?? [])
  const byReturnPath = new Map(
    all.filter(({ kind }) => kind.connectsBy.includes('consent')).map((one) => [returnPathOf(one.kind), one]),
  )
  const ownerApi = createOwnerApi(parts)
  const appFiles = createAppFiles(parts.appFolder, consentOrigins)
  const docs = createDocs(parts)

  return {
    methodsAt(path) {
      // Their GETs change something, so a HEAD must not pass for one.
      if (byReturnPath.has(path) || path === signInPath) return ['GET']
      return ownerApi.methodsAt(path) ?? (docs.isAt(path) || appFiles.isAt(path) ? ['GET', 'HEAD'] : null)
    },
    async answer(request, response, target) {
      const site = siteAt(parts.baseUrl())
      const [path = '', search = ''] = target.split(/\?(.*)/s)
      const query = new URLSearchParams(search)
      if (path === signInPath)
        return onward(response, site, 'google', () => toSignIn(request, query, site, parts))
      const connection = byReturnPath.get(path)
      if (connection) {
        const { id } = connection.kind
        return onward(response, site, id, () => fromConsent(connection, request, query, site, parts))
      }
      if (ownerApi.methodsAt(path)) return ownerApi.answer(request, response, target, site)
      if (docs.isAt(path)) return docs.answer(request, response, path, query, site)
      return appFiles.answer(request, response, path, site)
    },
    answerNotFound: (request, response) =>
      appFiles.answer(request, response, '', siteAt(parts.baseUrl()), 404),
  }

  async function onward(
    response: ServerResponse,
    site: Site,
    provider: string,
    find: () => Promise<Onward>,
  ): Promise<void> {
    const { to, cookies } = await find().catch((error: unknown): Onward => {
      if (error instanceof GoneMeanwhile) return { to: `/connect?${provider}=state_invalid`, cookies: [] }
      parts.observe({ event: 'malfunction', reference: randomBase62(12), operation: 'none', error })
      return { to: `/connect?${provider}=failed`, cookies: [] }
    })
    response.writeHead(303, {
      ...safetyHeaders(site),
      'Content-Security-Policy': contentPolicy(consentOrigins),
      'Cache-Control': 'no-store',
      Location: to.startsWith('/') ? site.basePath + to : to,
      'Content-Length': 0,
      ...(cookies.length > 0 && { 'Set-Cookie': cookies }),
    })
    response.end()
  }
}
