import type { GoogleAnswer, GoogleCall } from '../google-api.ts'
import { isObject } from '../sheets/model.ts'
import { DriveError, invalidParameter } from './drive-error.ts'
import { userJson } from './file-json.ts'
import { accessOf, type DriveFile, type FileComment, type FileStore } from './file-store.ts'
import { insufficientPermissions } from './files.ts'
import { pageOf } from './pages.ts'
import { repliesApi, replyJson, wantsDeleted } from './replies.ts'
import { shapedAsAsked } from './shape-answer.ts'

const usualPage = 20
const longestPage = 100

export function commentsApi(
  store: FileStore,
  file: DriveFile,
  call: GoogleCall,
  [id, part, replyId, ...rest]: readonly string[],
): GoogleAnswer {
  const { method, user } = call
  if (method !== 'GET' && accessOf(file, user) === 'read') throw insufficientPermissions()
  if (id === undefined) {
    if (method === 'POST') return createComment(store, file, call)
    if (method === 'GET') return listComments(file, call)
    throw new DriveError(404, 'notFound', 'Not Found')
  }
  const comment = file.comments.find((one) => one.id === id)
  const isShown = comment && (!comment.deleted || (method === 'GET' && wantsDeleted(call)))
  if (!isShown || rest.length > 0 || (part !== undefined && part !== 'replies'))
    throw new DriveError(404, 'notFound', `Comment not found: ${id}.`, 'commentId')
  if (part === 'replies') return repliesApi(store, comment, call, replyId)
  if (method === 'GET') return shapedAsAsked(call, commentJson(comment, user))
  if (comment.author !== user) throw insufficientPermissions()
  if (method === 'DELETE') {
    comment.deleted = true
    comment.modifiedMs = store.now()
    return { status: 204, body: undefined }
  }
  if (method !== 'PATCH') throw new DriveError(404, 'notFound', 'Not Found')
  comment.content = readContent(call.body)
  comment.modifiedMs = store.now()
  return shapedAsAsked(call, commentJson(comment, user))
}

function listComments(file: DriveFile, call: GoogleCall): GoogleAnswer {
  const shown = file.comments.filter(({ deleted }) => !deleted || wantsDeleted(call)).toReversed()
  const { page, nextPageToken } = pageOf(shown, call.query, { usual: usualPage, longest: longestPage })
  return shapedAsAsked(call, {
    kind: 'drive#commentList',
    ...(nextPageToken !== undefined && { nextPageToken }),
    comments: page.map((comment) => commentJson(comment, call.user)),
  })
}

function createComment(store: FileStore, file: DriveFile, call: GoogleCall): GoogleAnswer {
  const { anchor } = isObject(call.body) ? call.body : {}
  const now = store.now()
  const comment: FileComment = {
    id: `AAAA${store.newFileId().slice(1, 8)}`,
    author: call.user,
    content: readContent(call.body),
    ...(typeof anchor === 'string' && { anchor }),
    createdMs: now,
    modifiedMs: now,
    deleted: false,
    resolved: false,
    replies: [],
  }
  // Shaped first: a call that is refused for its fields has made nothing.
  const answer = shapedAsAsked(call, commentJson(comment, call.user))
  file.comments.push(comment)
  return answer
}

function readContent(body: unknown): string {
  const content = isObject(body) ? body.content : undefined
  if (typeof content === 'string' && content !== '') return content
  throw invalidParameter('comment.content', 'The content field is required.')
}

function commentJson(comment: FileComment, user: string): Record<string, unknown> {
  const { id, author, content, anchor, createdMs, modifiedMs, deleted, resolved } = comment
  const replies = comment.replies.filter((reply) => !reply.deleted)
  return {
    kind: 'drive#comment',
    id,
    createdTime: new Date(createdMs).toISOString(),
    modifiedTime: new Date(modifiedMs).toISOString(),
    ...(!deleted && { author: userJson(author, user), content, htmlContent: content }),
    deleted,
    ...(!deleted && { resolved, replies: replies.map((reply) => replyJson(reply, user)) }),
    ...(anchor !== undefined && { anchor }),
  }
}
