/** Shapes of real applications: what a text becomes, character for character. */
import t from 'tap'
import { after, mounted, table, type Given } from './mounted.ts'

table('the middleware stands right behind the application, and its import behind the others', [
  [
    'an ES module',
    `import express from 'express'
import { readFile } from 'node:fs/promises' // for the page

const app = express() // one of many
app.use(express.json())
`,
    `import express from 'express'
import { readFile } from 'node:fs/promises' // for the page
import { verifyClaims } from 'service-node'

const app = express() // one of many
const service = verifyClaims()
app.use(service.express()) // before everything else
app.use(express.json())
`,
  ],
  [
    'CommonJS: shebang, licence and directive stay on top',
    `#!/usr/bin/env node
/*! Copyright 2019 Somebody. MIT */
'use strict';

const app = require('express')();
app.listen(3000);
`,
    `#!/usr/bin/env node
/*! Copyright 2019 Somebody. MIT */
'use strict';

const app = require('express')();
const { verifyClaims } = require('service-node');
const service = verifyClaims();
app.use(service.express()); // before everything else
app.listen(3000);
`,
  ],
  [
    'a file of the years of var, with the line ends of Windows',
    "'use strict';\r\n\r\nvar express = require('express'), path = require('path');\r\nvar app = module.exports = express(); // the app\r\n\r\napp.use(1);\r\n",
    "'use strict';\r\n\r\nvar express = require('express'), path = require('path');\r\nvar verifyClaims = require('service-node').verifyClaims;\r\nvar app = module.exports = express(); // the app\r\nvar service = verifyClaims();\r\napp.use(service.express()); // before everything else\r\n\r\napp.use(1);\r\n",
  ],
  [
    'tabs, double quotes, tight braces',
    'import {Router} from "express";\nimport express from "express";\n\nexport function make() {\n\tconst app = express();\n\treturn app;\n}\n',
    'import {Router} from "express";\nimport express from "express";\nimport {verifyClaims} from "service-node";\n\nexport function make() {\n\tconst app = express();\n\tconst service = verifyClaims();\n\tapp.use(service.express()); // before everything else\n\treturn app;\n}\n',
  ],
  [
    'settings are loaded before the guard is made',
    `require('dotenv').config()
const express = require('express')
const app = express()
`,
    `require('dotenv').config()
const express = require('express')
const { verifyClaims } = require('service-node')
const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else
`,
  ],
  [
    'the last line of a file that has no end of line',
    `import express from 'express'
export const app = express()`,
    `import express from 'express'
import { verifyClaims } from 'service-node'
export const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else`,
  ],
  [
    'several declarations in one statement',
    `const express = require('express'),
  http = require('http'),
  app = express(),
  server = http.createServer(app)
server.listen(1)
`,
    `const express = require('express'),
  http = require('http'),
  app = express(),
  server = http.createServer(app)
const { verifyClaims } = require('service-node')
const service = verifyClaims()
app.use(service.express()) // before everything else
server.listen(1)
`,
  ],
  [
    'an application that carries another guards both',
    `const express = require('express')
const app = express()
const admin = express()
app.use('/admin', admin)
`,
    `const express = require('express')
const { verifyClaims } = require('service-node')
const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else
const admin = express()
app.use('/admin', admin)
`,
  ],
  [
    'two that are served apart have one guard, mounted twice',
    `const express = require('express')
const app = express()
const admin = express()
app.listen(1)
admin.listen(2)
`,
    `const express = require('express')
const { verifyClaims } = require('service-node')
const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else
const admin = express()
admin.use(service.express()) // before everything else
app.listen(1)
admin.listen(2)
`,
  ],
  [
    'names that are taken',
    `const express = require('express')
const service = require('./service')
const verifyClaims = () => {}
const app = express()
`,
    `const express = require('express')
const service = require('./service')
const { verifyClaims: verifyServiceClaims } = require('service-node')
const verifyClaims = () => {}
const app = express()
const signInService = verifyServiceClaims()
app.use(signInService.express()) // before everything else
`,
  ],
  [
    'a file that is wrapped in a function',
    `(function () {
  var express = require('express');
  var app = express();
  app.listen(1);
})();
`,
    `(function () {
  var express = require('express');
  var app = express();
  var verifyClaims = require('service-node').verifyClaims;
  var service = verifyClaims();
  app.use(service.express()); // before everything else
  app.listen(1);
})();
`,
  ],
  [
    'without semicolons, and the next line begins with a bracket',
    `const express = require('express')
const app = express()
;[1].forEach((port) => app.listen(port))
`,
    `const express = require('express')
const { verifyClaims } = require('service-node')
const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else
;[1].forEach((port) => app.listen(port))
`,
  ],
  [
    'a bracket that only a semicolon keeps away',
    `const express = require('express')
const path = require('path')
const app = express(); /* of
   two lines */
(async () => app.listen(1))()
`,
    `const express = require('express')
const path = require('path')
const { verifyClaims } = require('service-node')
const app = express(); /* of
   two lines */
const service = verifyClaims()
app.use(service.express()); // before everything else
(async () => app.listen(1))()
`,
  ],
  [
    'in sdk mode the application enforces by itself',
    `import express from 'express'
const app = express()
`,
    `import express from 'express'
import { enforce } from 'service-node'
const app = express()
const service = enforce()
app.use(service.express()) // before everything else
`,
    { mode: 'sdk' },
  ],
])

t.test('where it is not sure, it says so and changes nothing', async (t) => {
  const express = (code: string) => `const express = require('express')\n${code}\n`
  const rows: readonly (readonly [code: string, said: RegExp, given?: Given])[] = [
    [express('const app = express(); app.listen(1)'), /^2: there is other code on its line$/],
    [express('const app = given || express()'), /^2: it is only created under a condition/],
    [express('let app\napp ??= express()'), /^3: it is only created under a condition/],
    [
      express('for (const port of ports) {\n  const app = express()\n}'),
      /^3: it is created in a loop/,
    ],
    [express('const app = make()'), /^null: no known way of creating an application/],
    [
      express("const { verifyClaims } = require('service-node')\nconst app = express()"),
      /^3: this file already uses service-node/,
    ],
    [
      `import { NestFactory } from '@nestjs/core'\nNestFactory.create(A).then((app) => app.listen(1))`,
      /^2: the application is used/,
      { framework: 'nest' },
    ],
    [
      `import { NestFactory } from '@nestjs/core'\nconst app = NestFactory.create(A)`,
      /^2: it is not awaited/,
      { framework: 'nest' },
    ],
    [
      `require('http').createServer(options)`,
      /^1: it is unclear what handles/,
      { framework: 'node' },
    ],
    [
      `const http = require('http')
let server
if (a) {
  server = require(b).createServer(c, d)
} else {
  server = http.createServer(() => {})
}`,
      /^4: another server created here might listen instead/,
      { framework: 'node' },
    ],
    [
      express(
        'function a() {\n  const app = express()\n}\nfunction b() {\n  const app = express()\n}',
      ),
      /^3: this file creates more than one application.*once per process/,
      { mode: 'sdk' },
    ],
  ]
  for (const [code, said, given] of rows) {
    t.equal(mounted(code, given).kind, 'manual', code)
    t.match(after(code, given), said)
  }
})

t.test('two functions that each name an application alike have each to mount it', async (t) => {
  const { kind, shown } = mounted(`const express = require('express')
const { verifyClaims } = require('service-node')
const service = verifyClaims()
function admin() {
  const app = express()
  app.use(service.express())
  return app
}
function shop() {
  const app = express()
  return app
}
`) as { kind: string; shown: { line: number }[] }
  t.equal(kind, 'manual')
  t.same(
    shown.map(({ line }) => line),
    [10],
  )
})

t.test(
  'an application that is handed on in its own declaration is guarded before that',
  async (t) => {
    t.match(
      after(`var express = require('express')
var app = express(), x = require('./routes')(app)
`),
      /app = express\(\)\.use\(.*\.express\(\)\), x = /,
    )
  },
)

t.test('one that listens by itself is no part of its carrier', async (t) => {
  for (const own of [
    'admin.listen(3001)',
    'http.createServer(admin).listen(3001)',
    'module.exports = { admin }',
    'exports.admin = admin',
  ])
    t.match(
      after(`const express = require('express')
const http = require('http')
const admin = express()
const app = express()
app.use('/admin', admin)
app.listen(3000)
${own}
`),
      /admin = express\(\)\n(?:.*\n){0,2}admin\.use\(service\.express\(\)\)/,
      own,
    )
})

t.test(
  'an application that cannot take the middleware as its first is shown, and why',
  async (t) => {
    const routed = `import { createExpressServer } from 'routing-controllers'
const app = createExpressServer({ controllers: [] })
app.listen(3000)
`
    t.match(mounted(routed), {
      kind: 'manual',
      shown: [{ line: 2, problem: /routes are created/ }],
    })
    t.match(mounted(`var koa = require('koa')\nvar app = koa()\n`, { framework: 'koa' }), {
      kind: 'manual',
      shown: [{ line: 2, problem: /Koa 1/ }],
    })
  },
)

t.test('what is only made unless it is there already is shown', async (t) => {
  for (const made of ['if (!app) app = express()', 'if (!app) {\n  app = express()\n}'])
    t.match(
      mounted(`const express = require('express')\nlet app\n${made}\napp.listen(3000)\n`),
      { kind: 'manual', shown: [{ problem: /under a condition/ }] },
      made,
    )
})
