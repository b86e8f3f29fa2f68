/** Forms that bring a file along, before any of it is read. */
import t from 'tap'
import { readUpload } from '../../../control-plane/console/upload.ts'
import { LIMITS } from '../../../shared/limits.ts'

const TYPE = 'multipart/form-data; boundary=b'
const form = (parts: readonly string[]) =>
  Buffer.from(`${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`)
const choices = (count: number) =>
  Array.from({ length: count }, (_, at) => `content-DISPOSITION: form-data; name="on"\r\n\r\n${at}`)

t.test('a form has so many parts and no more', async (t) => {
  const read = (count: number) => readUpload(form(choices(count)), TYPE, { on: 'choices' })
  const { choices: sent } = await read(LIMITS.formFieldsMax)
  t.equal(sent.get('on')?.length, LIMITS.formFieldsMax)
  await t.rejects(read(LIMITS.formFieldsMax + 1), { code: 'body_too_large' })
  await t.rejects(readUpload(form(['a: b\r\n\r\nc']), TYPE, {}), { code: 'media_type_unsupported' })
})
