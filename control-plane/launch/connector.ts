/** Runs the demo's connector as a program of its own. Started by `npm start -- --demo connector`. */
import { run } from '../downloads/connector/program.ts'
import { connectorWorld } from './connector-demo.ts'

const [state = '', baseUrl = ''] = process.argv.slice(2)
let stop: () => void = () => process.exit(0)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop())
process.on('disconnect', () => process.exit(0)) // never outlives who started it

process.send?.({ ready: true })
const world = connectorWorld({ SERVICE_BASE_URL: baseUrl })
const code = await run(['run', '--state', state, '--local-port', 'none'], {
  ...world,
  stderr: process.stdout, // the log of `npm start`
  onSignal: (listen) => (stop = () => listen('stop')),
})
process.exit(code)
