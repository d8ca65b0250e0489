import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientsOf, createSpreadsheet, startClients } from './google-clients.ts'

/* What gspread and Google's samples ask of Drive, and Rowport itself does not. */

test('comments are made, listed page by page, changed and deleted, and copied as gspread copies them', async (t) => {
  const google = await startClients(t)
  const fileId = await createSpreadsheet(google, [['a']])
  const { comments } = google.driveApi
  await assert.rejects(comments.list({ fileId }), /The 'fields' parameter is required for this method\./)
  const fields = 'id,content,anchor,author/emailAddress,deleted,resolved'
  const { data: first } = await comments.create({
    fileId,
    fields,
    requestBody: { content: 'Is this right?', anchor: '{"a":1}' },
  })
  assert.deepEqual(first, {
    id: first.id,
    content: 'Is this right?',
    anchor: '{"a":1}',
    author: { emailAddress: 'ada@example.com' },
    deleted: false,
    resolved: false,
  })
  await comments.create({ fileId, fields: 'id', requestBody: { content: 'Second' } })
  await assert.rejects(comments.create({ fileId, fields: 'id', requestBody: {} }), { status: 400 })

  // As gspread asks, with an empty token first.
  const { access_token: token } = await google.tokens('ada@example.com')
  const asked = 'fields=comments/content,comments/anchor,nextPageToken&includeDeleted=false&pageSize=1'
  const contents: unknown[] = []
  let pageToken: string | undefined = ''
  while (pageToken !== undefined) {
    const path = `/drive/v3/files/${fileId}/comments?${asked}&pageToken=${pageToken}`
    const page = (await (await google.api(token, 'GET', path)).json()) as CommentPage
    contents.push(...page.comments)
    pageToken = page.nextPageToken
  }
  assert.deepEqual(contents, [{ content: 'Second' }, { content: 'Is this right?', anchor: '{"a":1}' }])
  const { data: copy } = await google.driveApi.files.copy({ fileId })
  const { data: none } = await comments.list({ fileId: copy.id ?? '', fields: 'comments(id)' })
  assert.deepEqual(none, { comments: [] }, 'a copy has none of its own accord')

  const commentId = first.id ?? ''
  const changed = { fileId, commentId, fields: 'content', requestBody: { content: 'Yes.' } }
  assert.deepEqual((await comments.update(changed)).data, { content: 'Yes.' })
  assert.equal((await comments.delete({ fileId, commentId })).status, 204)
  await assert.rejects(comments.get({ fileId, commentId, fields: 'id' }), { status: 404 })
  const { data: left } = await comments.list({ fileId, fields: 'comments(content)' })
  assert.deepEqual(left.comments, [{ content: 'Second' }])
  const { data: all } = await comments.list({ fileId, includeDeleted: true, fields: 'comments(deleted)' })
  assert.deepEqual(all.comments, [{ deleted: false }, { deleted: true }])
})

test('changes are told from a token on, each file once, to those who see it', async (t) => {
  const google = await startClients(t)
  const old = await createSpreadsheet(google, [['old']])
  const { changes, files } = google.driveApi
  const { data: start } = await changes.getStartPageToken()
  assert.equal(start.kind, 'drive#startPageToken')
  const since = async (pageToken: string, more = {}) => (await changes.list({ pageToken, ...more })).data
  const told = async (pageToken: string) =>
    (await since(pageToken)).changes?.map(({ fileId, removed, file }) => [fileId, removed, file?.name])
  const token = start.startPageToken ?? ''
  assert.deepEqual(await told(token), [])

  const made = await createSpreadsheet(google, [['new']], { title: 'New' })
  await files.update({ fileId: old, requestBody: { name: 'First name' } })
  await google.sheetsApi.spreadsheets.values.update({
    spreadsheetId: made,
    range: 'A1',
    valueInputOption: 'RAW',
    requestBody: { values: [['changed']] },
  })
  assert.deepEqual(await told(token), [
    [old, false, 'First name'],
    [made, false, 'New'],
  ])
  const page = await since(token, { pageSize: 1 })
  assert.equal(page.changes?.length, 1)
  assert.equal(page.newStartPageToken, undefined)
  const last = await since(page.nextPageToken ?? '')
  assert.equal(last.changes?.[0]?.fileId, made)
  await files.delete({ fileId: old })
  assert.deepEqual(await told(last.newStartPageToken ?? ''), [[old, true, undefined]])

  const bob = await clientsOf(google, 'bob@example.com')
  assert.deepEqual((await bob.driveApi.changes.list({ pageToken: token })).data.changes, [])
  await assert.rejects(since('not a token'), { status: 400 })
})

test('a CSV takes the place of a spreadsheet, by v2 as gspread sends it and by v3 as Google’s client does', async (t) => {
  const google = await startClients(t)
  const spreadsheetId = await createSpreadsheet(google, [['old', 'cells', 'here']])
  const { access_token: token } = await google.tokens('ada@example.com')
  const values = async () => {
    const range = 'A1:D9'
    const read = { spreadsheetId, range, valueRenderOption: 'UNFORMATTED_VALUE' }
    return (await google.sheetsApi.spreadsheets.values.get(read)).data.values
  }
  const path = `/upload/drive/v2/files/${spreadsheetId}?uploadType=media&convert=True&supportsAllDrives=True`
  const put = (body: string, type = 'text/csv', bearer = token) =>
    fetch(google.url + path, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': type },
      body,
    })
  const answer = await put('name,price\r\n"Lamp, ""red""\nand tall",59.9\r\nTable,420\n')
  assert.equal(answer.status, 200, await answer.clone().text())
  const file = (await answer.json()) as { kind: string; id: string; title: string }
  assert.deepEqual([file.kind, file.id, file.title], ['drive#file', spreadsheetId, 'Shop'])
  assert.deepEqual(await values(), [
    ['name', 'price'],
    ['Lamp, "red"\nand tall', 59.9],
    ['Table', 420],
  ])
  assert.equal((await put('x', 'image/png')).status, 400)
  const { access_token: stranger } = await google.tokens('bob@example.com')
  assert.equal((await put('x', 'text/csv', stranger)).status, 404)

  const media = { mimeType: 'text/csv', body: 'a\n1' }
  // For uploads this client does not look at the root that it was made with.
  const there = { rootUrl: google.url }
  const { data } = await google.driveApi.files.update({ fileId: spreadsheetId, media }, there)
  assert.deepEqual([data.id, data.name], [spreadsheetId, 'Shop'])
  assert.deepEqual(await values(), [['a'], [1]])
})

test('comments are answered, resolved and opened again by replies', async (t) => {
  const google = await startClients(t)
  const fileId = await createSpreadsheet(google, [['a']])
  const { comments, replies } = google.driveApi
  const made = await comments.create({ fileId, fields: 'id', requestBody: { content: 'Is this right?' } })
  const at = { fileId, commentId: made.data.id ?? '' }
  await assert.rejects(replies.create({ ...at, requestBody: { content: 'Yes.' } }), { status: 400 })
  const fields = 'id,kind,content,action,author/emailAddress,deleted'
  const { data: first } = await replies.create({ ...at, fields, requestBody: { content: 'Yes.' } })
  assert.deepEqual(first, {
    id: first.id,
    kind: 'drive#reply',
    content: 'Yes.',
    author: { emailAddress: 'ada@example.com' },
    deleted: false,
  })
  await assert.rejects(replies.create({ ...at, fields, requestBody: {} }), { status: 400 })
  await assert.rejects(replies.create({ ...at, fields, requestBody: { action: 'close' } }), { status: 400 })
  await replies.create({ ...at, fields, requestBody: { action: 'resolve' } })
  const whole = async () => (await comments.get({ ...at, fields: 'resolved,replies(content,action)' })).data
  assert.deepEqual(await whole(), { resolved: true, replies: [{ content: 'Yes.' }, { action: 'resolve' }] })
  await replies.create({ ...at, fields, requestBody: { action: 'reopen', content: 'Not yet.' } })
  assert.equal((await whole()).resolved, false)

  const contents = async (more = {}) =>
    (await replies.list({ ...at, fields: 'nextPageToken,replies(content,deleted)', ...more })).data
  const page = await contents({ pageSize: 2 })
  assert.equal(page.replies?.length, 2)
  const last = await contents({ pageSize: 2, pageToken: page.nextPageToken ?? '' })
  assert.deepEqual(last, { replies: [{ content: 'Not yet.', deleted: false }] })
  const one = { ...at, replyId: first.id ?? '' }
  const changed = { ...one, fields: 'content', requestBody: { content: 'It is.' } }
  assert.deepEqual((await replies.update(changed)).data, { content: 'It is.' })
  assert.deepEqual((await replies.get({ ...one, fields: 'content' })).data, { content: 'It is.' })
  await google.driveApi.permissions.create({
    fileId,
    requestBody: { type: 'user', role: 'commenter', emailAddress: 'bob@example.com' },
  })
  const bob = await clientsOf(google, 'bob@example.com')
  await assert.rejects(bob.driveApi.replies.update(changed), { status: 403 })
  assert.equal((await replies.delete(one)).status, 204)
  await assert.rejects(replies.get({ ...one, fields: 'id' }), { status: 404 })
  assert.equal((await contents()).replies?.length, 2)
  assert.deepEqual((await contents({ includeDeleted: true })).replies?.[0], { deleted: true })
})

test('an upload in two parts names the file and fills it, as Google’s client sends it', async (t) => {
  const google = await startClients(t)
  const there = { rootUrl: google.url }
  const { files } = google.driveApi
  const media = { mimeType: 'text/csv', body: 'name,price\r\n"Lamp, red",59.9\r\n\r\nÄpfel,2' }
  const mimeType = 'application/vnd.google-apps.spreadsheet'
  const { data: made } = await files.create(
    { requestBody: { name: 'Prices', mimeType }, media, fields: 'id,name,mimeType' },
    there,
  )
  const fileId = made.id ?? ''
  assert.deepEqual(made, { id: fileId, name: 'Prices', mimeType })
  const values = async () => {
    const read = { spreadsheetId: fileId, range: 'A1:D9', valueRenderOption: 'UNFORMATTED_VALUE' }
    return (await google.sheetsApi.spreadsheets.values.get(read)).data.values
  }
  assert.deepEqual(await values(), [['name', 'price'], ['Lamp, red', 59.9], [], ['Äpfel', 2]])

  const other = { mimeType: 'text/csv', body: 'a\n1' }
  const { data: changed } = await files.update({ fileId, requestBody: { name: 'New' }, media: other }, there)
  assert.deepEqual([changed.id, changed.name], [fileId, 'New'])
  assert.deepEqual(await values(), [['a'], [1]])
  const { data: book } = await google.sheetsApi.spreadsheets.get({ spreadsheetId: fileId })
  assert.equal(book.properties?.title, 'New')

  const plain = { requestBody: { name: 'notes.txt' }, media: { mimeType: 'text/plain', body: 'x' } }
  const { data: notes } = await files.create(plain, there)
  assert.deepEqual([notes.name, notes.mimeType], ['notes.txt', 'text/plain'])
  const alone = await files.create({ media: { mimeType: 'text/plain', body: 'x' } }, there)
  assert.deepEqual([alone.data.name, alone.data.mimeType], ['Untitled', 'text/plain'])

  const { access_token: token } = await google.tokens('ada@example.com')
  const send = (body: string) =>
    fetch(`${google.url}/upload/drive/v3/files?uploadType=multipart`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'multipart/related; boundary="x y"' },
      body,
    })
  const part = (type: string, text: string) => `--x y\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`
  const json = part('application/json; charset=UTF-8', '{"name":"By hand"}')
  assert.equal((await send(`${json}${part('text/plain', 'x')}--x y--`)).status, 200)
  for (const broken of ['', json, `${part('application/json', '{')}${part('text/plain', 'x')}--x y--`]) {
    assert.equal((await send(broken)).status, 400, broken)
  }
})

interface CommentPage {
  comments: object[]
  nextPageToken?: string
}
