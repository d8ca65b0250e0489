import type { FileHandle } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import type { Refusal } from '../../errors.ts'
import type { Session } from '../../management/people/sign-in.ts'
import type { Problem } from '../../management/problem.ts'
import type { DashboardParts, MadeJson } from '../dashboard-parts.ts'
import type { Site } from '../site.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** One of the owner's verbs: what it takes, and who may call it. */
export type Route = OpenRoute | OwnerRoute

interface RouteBase {
  method: Method
  /** Below `/dashboard/api`; `{name}` stands for one segment. */
  path: string
  /** What the body must be; without it there is none. */
  input?: z.ZodType
  /** The body is a file and read by the verb itself. */
  isUpload?: true
  /** It only takes access away, at least with such a body: possible also when the minute's calls are used up. */
  takesAccessAway?: true | ((body: unknown) => boolean)
}

/** For everybody. */
export interface OpenRoute extends RouteBase {
  open(call: Call, parts: DashboardParts): Promise<Outcome>
}

/** For those who are signed in. */
export interface OwnerRoute extends RouteBase {
  /** It ends something for good, so a session that was left open must not do for it. */
  needsRecentSignIn?: true
  owner(call: OwnerCall, parts: DashboardParts): Promise<Outcome>
}

export interface Call {
  request: IncomingMessage
  site: Site
  query: URLSearchParams
  /** What the open segments of the path were, in their order. */
  names: readonly string[]
  /** As `input` says. */
  body: unknown
  /** The cookie as it came, good or not. */
  sessionId: string | null
  /** Nobody is there any more who could be answered. */
  left: AbortSignal
}

export interface OwnerCall extends Call {
  session: Session
}

export type Outcome = Answer | FileAnswer | MadeAnswer | Problem | Refusal

export interface Answer {
  json: unknown
  status?: number
  cookie?: string
  /** Under which name a browser keeps it as a file. */
  fileName?: string
}

/** A file as it is, for the browser to keep and never to show. Whoever sends it closes the handle. */
export class FileAnswer {
  readonly handle: FileHandle
  readonly bytes: number
  readonly fileName: string

  constructor(handle: FileHandle, bytes: number, fileName: string) {
    this.handle = handle
    this.bytes = bytes
    this.fileName = fileName
  }
}

/** Rows and descriptions, which are sent as the public API sends them. */
export class MadeAnswer {
  readonly json: MadeJson

  constructor(json: MadeJson) {
    this.json = json
  }
}

/** JSON that was made already, and is sent as it is: its keys may be in an order that an object would not keep. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Holds a verb to the input that it names. */
export function withInput<Input>(
  input: z.ZodType<Input>,
  run: (call: OwnerCall, body: Input, parts: DashboardParts) => Promise<Outcome>,
): Pick<OwnerRoute, 'input' | 'owner'> {
  return { input, owner: (call, parts) => run(call, call.body as Input, parts) }
}

export function openWithInput<Input>(
  input: z.ZodType<Input>,
  run: (call: Call, body: Input, parts: DashboardParts) => Promise<Outcome>,
): Pick<OpenRoute, 'input' | 'open'> {
  return { input, open: (call, parts) => run(call, call.body as Input, parts) }
}
