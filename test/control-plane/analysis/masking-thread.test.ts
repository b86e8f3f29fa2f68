import t from 'tap'
import { maskApart } from '../../../control-plane/analysis/masking-thread.ts'
import { judgeSent } from '../../../control-plane/analysis/sent-files.ts'
import { LIMITS } from '../../../shared/limits.ts'

/** Each part looks like the beginning of a token that goes on for long. */
const slow = '-eyJaaaaaaaa'.repeat(LIMITS.analysisFileCharactersMax / 12)

void t.test('what takes long to search holds up nobody else', async (t) => {
  let turns = 0
  let next = setImmediate(function turn() {
    turns++
    next = setImmediate(turn)
  })
  const text = 'const secret = "hunter2 and more"'
  const project = await judgeSent({ files: { 'a.js': slow, 'b.js': text } }, 1e6)
  clearImmediate(next)
  t.ok(turns > 0, 'others had their turn meanwhile')
  t.equal(project.files.get('b.js'), 'const secret = "[hidden]"')
  t.equal(project.masked, 1)
})

void t.test('what takes too long is refused with what to do', async (t) => {
  t.ok(LIMITS.maskingMsMax > 1)
  const inNoTime = (files: Parameters<typeof maskApart>[0]) => maskApart(files, 1)
  await t.rejects(judgeSent({ files: { 'a.js': slow } }, 1e6, inNoTime), {
    code: 'field_invalid',
    detail: /send fewer or shorter files/,
  })
})
