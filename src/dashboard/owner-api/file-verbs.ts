import { Readable } from 'node:stream'
import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { sentence } from '../../management/people/owners.ts'
import { Problem } from '../../management/problem.ts'
import type { UploadedFile } from '../../management/uploads/upload-inspection.ts'
import type { FileChoice } from '../contract.ts'
import type { DashboardParts } from '../dashboard-parts.ts'
import { FileAnswer, type OwnerCall, type VerbOutcome, type Verbs, withInput } from './route.ts'
import { bodyAtItsPace, TooSlow } from './upload-pace.ts'

const renameInput = z.strictObject({ to: z.string('Choose a name.').max(500) })

/** The files that an owner has brought. Every name is one in the account's own folder, or nothing. */
export const fileVerbs = {
  'GET /files': {
    async owner({ session }, { uploads }) {
      const files = (await uploads?.list(session.account.id)) ?? []
      return { json: files.map(choiceOf) }
    },
  },
  'POST /files': {
    isUpload: true,
    async owner(call, parts) {
      const { uploads } = parts
      if (!uploads) return noFiles
      const { account } = call.session
      return takeUpload(call, parts, 201, (bytes) =>
        uploads.save(account.id, call.query.get('name') ?? '', bytes),
      )
    },
  },
  'POST /files/{name}/replace': {
    isUpload: true,
    async owner(call, parts) {
      const { uploads } = parts
      if (!uploads) return noFiles
      const { account } = call.session
      const [name = ''] = call.names
      return takeUpload(call, parts, 200, (bytes) =>
        uploads.replace(account.id, name, call.query.get('name') ?? '', bytes),
      )
    },
  },
  'POST /files/{name}/rename': withInput(
    renameInput,
    async ({ session, names: [name = ''] }, { to }, { uploads, lanes }) => {
      if (!uploads) return noFiles
      const renamed = await uploads.rename(session.account.id, name, to, lanes)
      return renamed instanceof Problem ? renamed : { json: choiceOf(renamed) }
    },
  ),
  'GET /files/{name}/content': {
    async owner({ session, names: [name = ''] }, { uploads }) {
      if (!uploads) return noFiles
      const opened = await uploads.open(session.account.id, name)
      return opened instanceof Problem ? opened : new FileAnswer(opened.handle, opened.bytes, name)
    },
  },
  'DELETE /files/{name}': {
    needsRecentSignIn: true,
    async owner({ session, names: [name = ''] }, { uploads }) {
      if (!uploads) return noFiles
      return (await uploads.remove(session.account.id, name)) ?? { json: null }
    },
  },
} satisfies Partial<Verbs>

export const noFiles = new Problem('File uploads are turned off on this server.', { kind: 'not_allowed' })

async function takeUpload(
  call: OwnerCall,
  { signIn }: DashboardParts,
  status: number,
  take: (bytes: Readable) => Promise<UploadedFile | Problem>,
): Promise<VerbOutcome<FileChoice>> {
  try {
    const saved = await take(Readable.from(bodyOfOwner(), { objectMode: false }))
    return saved instanceof Problem ? saved : { json: choiceOf(saved), status }
  } catch (error) {
    if (error instanceof TooSlow) return new Refusal('request_timeout')
    if (error instanceof SignedOut) return signedOut
    throw error
  }

  /** It may have come for minutes, and the session ended meanwhile. */
  async function* bodyOfOwner(): AsyncGenerator<Buffer> {
    yield* bodyAtItsPace(call.request)
    if (!(await signIn.find(call.sessionId ?? ''))) throw new SignedOut()
  }
}

class SignedOut extends Error {}

const signedOut = new Problem('You were signed out while the file was uploading. It wasn’t saved.', {
  kind: 'unknown_person',
})

function choiceOf(file: UploadedFile): FileChoice {
  return { ...file, path: file.name, problem: file.problem && sentence(file.problem) }
}
