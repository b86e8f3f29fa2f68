/** What `npm start` shows of the programs' logs. */
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createProgramLog } from '../../../control-plane/launch/program-log.ts'

const line = (level: number, msg: string) => `${JSON.stringify({ level, time: 1, msg })}\n`

async function shown(isAll: boolean): Promise<string> {
  const [stdout, program] = [new PassThrough(), new PassThrough()]
  const log = createProgramLog(isAll, stdout)
  log.take(program)
  let text = ''
  stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const say = async (lines: string) => {
    program.write(lines)
    for (let turns = 0; turns < 5; turns++) await turn()
  }
  await say(line(30, 'a request') + line(40, 'a warning'))
  t.equal(text, '', 'nothing before the summary')
  log.release()
  await say(line(50, 'an error'))
  log.ending()
  await say(line(40, 'the link was closed') + line(50, 'data was lost') + 'no line of a log\n')
  return text
}

t.test('warnings and errors behind the summary; at the end only what went wrong', async (t) => {
  const text = await shown(false)
  t.match(text, /a warning[^]*an error[^]*data was lost[^]*no line of a log/)
  t.notMatch(text, 'a request')
  t.notMatch(text, 'the link was closed', 'whoever pressed Ctrl-C knows')
})

t.test('all of it with --log', async (t) => {
  t.match(await shown(true), /a request[^]*a warning[^]*the link was closed[^]*data was lost/)
})
