/** The application behind every peer: one nginx worker that answers from memory. */
import { freePort } from '../test/support/ports.ts'
import { folder, start, writeText, type Need, type Running } from './processes.ts'

export const ORIGIN_NEED: Need = { program: 'nginx', install: 'apt install nginx' }

export async function startOrigin(): Promise<Running> {
  const port = await freePort()
  const small = 'x'.repeat(1024)
  writeText('64k', 'y'.repeat(64 * 1024))
  const conf = writeText(
    'origin.conf',
    `daemon off; master_process off; pid ${writeText('origin.pid', '')}; error_log stderr crit;
events { worker_connections 16384; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600s; tcp_nodelay on;
  client_body_buffer_size 64k;
  open_file_cache max=10; sendfile on;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /64k { root ${folder}; default_type text/plain; }
    location / { default_type text/plain; return 200 "${small}"; }
  }
}`,
  )
  return start('nginx', ['-c', conf], { port })
}
