import type { FileHandle } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import type { Refusal } from '../../errors.ts'
import type { Session } from '../../management/people/sign-in.ts'
import type { Problem } from '../../management/problem.ts'
import type { DashboardParts, MadeJson } from '../dashboard-parts.ts'
import type { OwnerVerb, OwnerVerbs } from '../owner-verbs.ts'
import type { Site } from '../site.ts'

/** The owner's verbs (`contract.ts`): what each takes, and who may call it. */
export type Verbs = { [Verb in OwnerVerb]: VerbRoute<Verb> }

/** Those of one provider, whose id begins their paths; `By`: how owners connect it. */
export type ProviderVerb<By extends 'consent' | 'key' = 'consent' | 'key'> = Extract<
  OwnerVerb,
  `${string} /{${'provider' | `${By}Provider`}}${string}`
>

type VerbRoute<Verb extends OwnerVerb> = Taking<OwnerVerbs[Verb]> &
  (
    | OpenRoute<InputOf<OwnerVerbs[Verb]>, OwnerVerbs[Verb]['answer']>
    | OwnerRoute<InputOf<OwnerVerbs[Verb]>, OwnerVerbs[Verb]['answer']>
  )

/** The body is JSON, and `input` says of which kind; or a file, and read by the verb itself; or there is none. */
type Taking<Shape> = Shape extends { input: unknown }
  ? { input: z.ZodType; isUpload?: never }
  : Shape extends { upload: true }
    ? { isUpload: true; input?: never }
    : { input?: never; isUpload?: never }

type InputOf<Shape> = Shape extends { input: infer Input } ? Input : null

/** A verb at its place. Whoever calls it has held the body to `input`, and can know no more of it. */
export type VerbAtPath = {
  method: string
  /** Below `/dashboard/api`; `{name}` stands for one segment. */
  path: string
  /** As `contract.ts` has it, which for a provider's verb leaves open whose. */
  verbPath: string
  input?: z.ZodType
  isUpload?: true
} & (OpenRoute<never, unknown> | OwnerRoute<never, unknown>)

interface RouteBase {
  /** It only takes access away, at least with such a body: possible also when the minute's calls are used up. */
  takesAccessAway?: true | ((body: unknown) => boolean)
}

/** A verb for everybody. */
interface OpenRoute<Input, Result> extends RouteBase {
  open: (call: VerbCall, parts: DashboardParts, body: Input) => Promise<VerbOutcome<Result>>
}

/** A verb for those who are signed in. */
interface OwnerRoute<Input, Result> extends RouteBase {
  /** It ends something for good, so a session that was left open must not do for it. */
  needsRecentSignIn?: true
  owner: (call: OwnerCall, parts: DashboardParts, body: Input) => Promise<VerbOutcome<Result>>
}

export interface VerbCall {
  request: IncomingMessage
  site: Site
  query: URLSearchParams
  /** What the open segments of the path were, in their order. */
  names: readonly string[]
  /** As `input` says; the verb itself is given it with its type. */
  body: unknown
  /** The cookie as it came, good or not. */
  sessionId: string | null
  /** Nobody is there any more who could be answered. */
  left: AbortSignal
}

export interface OwnerCall extends VerbCall {
  session: Session
}

export type VerbOutcome<Result = unknown> = VerbAnswer<Result> | FileAnswer | MadeAnswer | Problem | Refusal

interface VerbAnswer<Result> {
  json: Result | RawJson
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
export function withInput<Input, Result extends VerbOutcome>(
  input: z.ZodType<Input>,
  run: (call: OwnerCall, body: Input, parts: DashboardParts) => Promise<Result>,
) {
  return { input, owner: (call: OwnerCall, parts: DashboardParts, body: Input) => run(call, body, parts) }
}

export function openWithInput<Input, Result extends VerbOutcome>(
  input: z.ZodType<Input>,
  run: (call: VerbCall, body: Input, parts: DashboardParts) => Promise<Result>,
) {
  return { input, open: (call: VerbCall, parts: DashboardParts, body: Input) => run(call, body, parts) }
}
