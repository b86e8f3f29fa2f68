/**
 * Whoever reads a log: `node bench/programs/log-reader.ts busy|slow < lines`. `busy` takes every line
 * apart, as a collector of logs does; `slow` takes what a pipe holds and then does something else.
 */
const [kind] = process.argv.slice(2)
const PAUSE_MS = 50

let rest = ''
process.stdin.setEncoding('latin1')
process.stdin.on('data', (chunk: string) => {
  if (kind === 'busy') {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) JSON.parse(line)
    return
  }
  process.stdin.pause()
  setTimeout(() => process.stdin.resume(), PAUSE_MS)
})
