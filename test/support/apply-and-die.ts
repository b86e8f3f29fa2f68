/** Applies edits to the folder it is given and kills itself before the step it is given. */
import { prepare } from '../../control-plane/downloads/analyzer/journal/prepare.ts'
import { journalWorld } from '../../control-plane/downloads/analyzer/journal/world.ts'
import { writeEdits } from '../../control-plane/downloads/analyzer/journal/write.ts'
import { CHANGES, watchedFiles } from './journal-trees.ts'

const [root = '', step = '0', edits = '[]'] = process.argv.slice(2)
const world = journalWorld(process.env)
const prepared = await prepare(root, JSON.parse(edits) as [], { sdkUrl: null }, world)
if (prepared.kind === 'refused') throw new Error(JSON.stringify(prepared.problems))
let steps = 0
const files = watchedFiles((name) => {
  if (CHANGES.has(name) && ++steps === Number(step)) process.kill(process.pid, 'SIGKILL')
})
const outcome = await writeEdits(prepared, { ...world, files })
process.stdout.write(`${outcome.kind} ${steps}`)
