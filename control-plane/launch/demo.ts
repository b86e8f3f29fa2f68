/** Runs the demo application as a program of its own. Started by `npm start`. */
import { listenText } from '../../shared/config/config.ts'
import { createDemoApplication } from './demo-application.ts'
import { DEMO } from './seed.ts'
import { loadToolSettings } from '../config.ts'

const { config } = loadToolSettings(process.argv.slice(2))
const server = createDemoApplication({ tenantId: DEMO.tenantId, baseUrl: config.base_url })
const { host, port } = config.demo.listen

server.once('error', (error: NodeJS.ErrnoException) => {
  const reason =
    error.code === 'EADDRINUSE' ? 'is already in use' : `could not be opened (${error.code})`
  process.stderr.write(
    `${listenText(config.demo.listen)} ${reason}; free it, or set demo.listen in the config file\n`,
  )
  process.exit(1)
})
server.listen(port, host, () => process.send?.({ ready: true }))

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    server.closeAllConnections()
    server.close(() => process.exit(0))
  })
process.on('disconnect', () => process.exit(0)) // never outlives who started it
