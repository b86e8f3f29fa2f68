/** The program `service-analyzer`: the environment in, an exit code out. */
import { run } from './program.ts'

const { stdout, stderr, argv, env } = process
process.exitCode = await run(argv.slice(2), {
  environment: env,
  columns: stdout.columns ?? 80,
  print: (text) => void stdout.write(`${text}\n`),
  complain: (text) => void stderr.write(`${text}\n`),
  fetch,
})
