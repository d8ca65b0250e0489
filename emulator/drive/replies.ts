import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { isObject } from '../sheets/model.ts'
import { DriveError, invalidParameter } from './drive-error.ts'
import { userJson } from './file-json.ts'
import type { CommentReply, FileComment, FileStore } from './file-store.ts'
import { insufficientPermissions } from './files.ts'
import { pageOf } from './pages.ts'
import { shapedAsAsked } from './shape-answer.ts'

const usualPage = 20
const longestPage = 100

/** The answers to one comment; `resolve` and `reopen` are answers, too, with or without words. */
export function repliesApi(
  store: FileStore,
  comment: FileComment,
  call: GoogleCall,
  id: string | undefined,
): GoogleAnswer {
  const { method, user } = call
  if (id === undefined) {
    if (method === 'POST') return createReply(store, comment, call)
    if (method === 'GET') return listReplies(comment, call)
    throw new DriveError(404, 'notFound', 'Not Found')
  }
  const reply = comment.replies.find((one) => one.id === id)
  const isShown = reply && (!reply.deleted || (method === 'GET' && wantsDeleted(call)))
  if (!isShown) throw new DriveError(404, 'notFound', `Reply not found: ${id}.`, 'replyId')
  if (method === 'GET') return shapedAsAsked(call, replyJson(reply, user))
  if (reply.author !== user) throw insufficientPermissions()
  if (method === 'DELETE') {
    reply.deleted = true
    reply.modifiedMs = store.now()
    return { status: 204, body: undefined }
  }
  if (method !== 'PATCH') throw new DriveError(404, 'notFound', 'Not Found')
  const changed: CommentReply = { ...reply, content: requiredContent(call.body), modifiedMs: store.now() }
  const answer = shapedAsAsked(call, replyJson(changed, user))
  Object.assign(reply, changed)
  return answer
}

export function replyJson(reply: CommentReply, user: string): Record<string, unknown> {
  const { id, author, content, action, createdMs, modifiedMs, deleted } = reply
  return {
    kind: 'drive#reply',
    id,
    createdTime: new Date(createdMs).toISOString(),
    modifiedTime: new Date(modifiedMs).toISOString(),
    ...(!deleted && { author: userJson(author, user) }),
    ...(!deleted && content !== undefined && { content, htmlContent: content }),
    deleted,
    ...(!deleted && action !== undefined && { action }),
  }
}

export function wantsDeleted({ query }: GoogleCall): boolean {
  return query.get('includeDeleted')?.toLowerCase() === 'true'
}

/** The oldest first, as a conversation is read. */
function listReplies(comment: FileComment, call: GoogleCall): GoogleAnswer {
  const shown = comment.replies.filter(({ deleted }) => !deleted || wantsDeleted(call))
  const { page, nextPageToken } = pageOf(shown, call.query, { usual: usualPage, longest: longestPage })
  return shapedAsAsked(call, {
    kind: 'drive#replyList',
    ...(nextPageToken !== undefined && { nextPageToken }),
    replies: page.map((reply) => replyJson(reply, call.user)),
  })
}

function createReply(store: FileStore, comment: FileComment, call: GoogleCall): GoogleAnswer {
  const given = isObject(call.body) ? call.body : {}
  const action = readAction(given.action)
  const isSaid = action === undefined || given.content !== undefined
  const now = store.now()
  const reply: CommentReply = {
    id: `AAAA${store.newFileId().slice(1, 8)}`,
    author: call.user,
    ...(isSaid && { content: requiredContent(given) }),
    ...(action !== undefined && { action }),
    createdMs: now,
    modifiedMs: now,
    deleted: false,
  }
  // Shaped first: a call that is refused for its fields has made nothing.
  const answer = shapedAsAsked(call, replyJson(reply, call.user))
  comment.replies.push(reply)
  comment.modifiedMs = now
  if (action !== undefined) comment.resolved = action === 'resolve'
  return answer
}

function readAction(given: unknown): CommentReply['action'] {
  if (given === undefined || given === 'resolve' || given === 'reopen') return given
  throw invalidParameter('reply.action')
}

function requiredContent(body: unknown): string {
  const content = isObject(body) ? body.content : undefined
  if (typeof content === 'string' && content !== '') return content
  throw invalidParameter('reply.content', 'The content field is required.')
}
