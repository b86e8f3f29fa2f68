/**
 * Public applications that were not written for this, as they were published: pinned by version and by
 * the hash of what npm hands out.
 */

export interface Stranger {
  readonly name: string
  readonly version: string
  readonly integrity: string
}

export const STRANGERS: readonly Stranger[] = [
  {
    name: 'json-server',
    version: '0.17.4',
    integrity:
      'sha512-bGBb0WtFuAKbgI7JV3A864irWnMZSvBYRJbohaOuatHwKSRFUfqtQlrYMrB6WbalXy/cJabyjlb7JkHli6dYjQ==',
  },
  {
    name: 'peer',
    version: '1.0.2',
    integrity:
      'sha512-ZObVEhAaoskd3KuSxr5DJLM8QuqQW4w3i0MqrI8H7Bzz8DjRC3DjUg2XtQQGfdc36+8Xk+wIPT/tL5wE+KnIqg==',
  },
  {
    name: 'fake-smtp-server',
    version: '0.8.0',
    integrity:
      'sha512-HH6VlMdv1JyydyWItQm6C7eTm10eExpgFiWWkFbtMEuObM9rI2BsnjcnCT/mIPekLSDrZ9VMzNF80XiGFgT2UQ==',
  },
  {
    name: 'swagger-ui-watcher',
    version: '2.1.14',
    integrity:
      'sha512-cYNkb28pxg6S3KVlBfVveqvtr5W9zrueESQpPYjFJArhCU6EJZGw6hRgeBAcEB6BVz7Nh5MPfikno+cuuCPiSQ==',
  },
  {
    name: 'reveal-md',
    version: '6.1.2',
    integrity:
      'sha512-//IWhFezjzMo/XsjRoCtZu15fRfC22MTT7GSReSTcufpJNMK0cfVjXsRpQOYZnuAcRF6arLFRfZZzuiXK8Vpqg==',
  },
  {
    name: 'cors-anywhere',
    version: '0.4.4',
    integrity:
      'sha512-8OBFwnzMgR4mNrAeAyOLB2EruS2z7u02of2bOu7i9kKYlZG+niS7CTHLPgEXKWW2NAOJWRry9RRCaL9lJRjNqg==',
  },
  {
    name: 'redis-commander',
    version: '0.9.0',
    integrity:
      'sha512-AMLY0sJm3iekK1UD3ZzIhjF9ZRcnOx/Tmjs83C12cyxPkd6ZQ9PDnxCv0zgmGSTwGUoHlraufJUpn80a8ADjdA==',
  },
  {
    name: 'mongo-express',
    version: '1.0.2',
    integrity:
      'sha512-Vdxe7Etjsfyej1TU6iJ4wL5HQUYpvVQWQqzDzr9f6B/FTZsoaNev8L30fJmg0bGQfAkTCez4oN4upG0VMnjH9g==',
  },
  {
    name: 'maildev',
    version: '3.0.0',
    integrity:
      'sha512-B3CcbgoX3GGd0HqE2Y1qER4ivPCwkyWfhs6TrBM7cg+Qywq4GyOn48ujj6Op+L6TyuJhYCcJCn9eTKImYFbQYw==',
  },
  {
    name: 'statsd',
    version: '0.9.0',
    integrity:
      'sha512-DwQDAZ3osm5ZaQshq7Z/C8nxpqWjj7NVBmHkxZLta9lDOYelPZ8vR976OU1TCHRgGA1bSBuB6glOw9cFkxlyzA==',
  },
  {
    name: 'nodecg',
    version: '2.6.4',
    integrity:
      'sha512-bGpYCtoH0viuV/gPBMxKabjYSlsjO0rSdqVP2BMNrH1qqGJMV1pwiXNU5JJBd83TA5QheMhvzFPcMY1jiGvJiw==',
  },
  {
    name: 'probot',
    version: '14.3.2',
    integrity:
      'sha512-Bprr2KwlVF4Jpb6bnIcfadA4Dtns8nDJxSEEPNy3FhRrtHUYxZGiczReG5Vo6M7t4iS8Kcvek7CDUTTXgkaSBw==',
  },
  {
    name: 'signalk-server',
    version: '2.32.0',
    integrity:
      'sha512-z9jEkY02zEoFY/MVObQR+HO/WpwOWlmQuL+vkMRlevQTA41gwVjHMfC6YBEF5QAkhTcmVBA0twiNsE0E/72Kqg==',
  },
  {
    name: 'unleash-server',
    version: '8.2.0',
    integrity:
      'sha512-Fw7n3zsp1/B8Vjz7hvTFFzRmDZzxMqI9hbpGGMfU9wksAIu1ofKTx2HK6XBwd2DgEqy3me4xVGjknngyxRIdPA==',
  },
  {
    name: 'wetty',
    version: '3.2.0',
    integrity:
      'sha512-MEXzmDHyp8M0EWOHpIkl1N+jbHOSDHB/Syb1h8hh9Vym35zaomNAsg0Uyw7Kq3uX6LH+rDkfuzn3qdnR6Gir2g==',
  },
  {
    name: 'bull-arena',
    version: '4.10.0',
    integrity:
      'sha512-EpCUWznLWVLi37cDWirEWImqGcwU41mJ0/MG0G/tJHOrZUp5Vl9kTQE3aoFdwRWuz8TR5hKs7uLY4x5Nh53MSg==',
  },
  {
    name: 'fastify-cli',
    version: '8.0.2',
    integrity:
      'sha512-LawMEiYoxlRf38gCEMlBojFZfDIVCT1NQ/z0SgQluJK5p14UBstl2R6OZVIxSFiFZsJC16rkACrLTJhq1YbaHQ==',
  },
  {
    name: 'homebridge-config-ui-x',
    version: '5.28.0',
    integrity:
      'sha512-RNjujFoK3KlU6iWHRyN5dNYj3PbguKomG2QeWn/ON4+HJerrbjANL7c0QL21ZDhhZbXABfuzLAsEpWC+ovbwtQ==',
  },
  {
    name: 'flowise',
    version: '1.6.0',
    integrity:
      'sha512-tjfFDKSqV32pHRy35rtLlU2bno8ib1N8cE0uuVfTTdCdqLpP4pSRiQ/5tbFO8wTrbBkxEppPNZBthGvLlPef2A==',
  },
  {
    name: 'parse-server',
    version: '4.10.20',
    integrity:
      'sha512-phNDI6c8Pz9JxxH3PTw+6bjwYg4cozta2XWC7sxS3qC+a3jy425xPrZfz4G7kozCqJz2+OeYN/Dkw1nV+96KPQ==',
  },
  {
    name: 'live-server',
    version: '1.2.2',
    integrity:
      'sha512-t28HXLjITRGoMSrCOv4eZ88viHaBVIjKjdI5PO92Vxlu+twbk6aE0t7dVIaz6ZWkjPilYFV6OSdMYl9ybN2B4w==',
  },
  {
    name: 'http-server',
    version: '14.1.1',
    integrity:
      'sha512-+cbxadF40UXd9T01zUHgA+rlo2Bg1Srer4+B4NwIHdaGxAGGv59nYRnGGDJ9LBk7alpS0US+J+bLLdQOOkJq4A==',
  },
  {
    name: 'serve',
    version: '14.2.7',
    integrity:
      'sha512-mTJ9LAyBwHhO2T/PNaI0oWxmKl7FFuJ+ZEHKL1rRO69fWV1Y4qcsFB3gpuD2HfHvJCwvJq5ChibjjAGe0wc0vw==',
  },
  {
    name: 'node-red',
    version: '5.0.7',
    integrity:
      'sha512-zO5efeTMmjzwsAoqnnXxGYE5PSSy2w7apZynPgYgBb3Vbv9JtcKKPyNFYlN3U1wDVofahnfKgr1ewVAbt/dUfQ==',
  },
  {
    name: 'hexo-server',
    version: '3.0.0',
    integrity:
      'sha512-u4s0ty9Aew6jV+a9oMrXBwhrRpUQ0U8PWM/88a5aHgDru58VY81mVrxOFxs788NAsWQ8OvsJtF5m7mnXoRnSIA==',
  },
  {
    name: '@mockoon/cli',
    version: '9.9.0',
    integrity:
      'sha512-ISm6daBVJ2h6v+X7fdJ6aKzAP76Vg1IJp5SyFagzssPK9RT+9ISf1LST09sVyKPKFTq9HU9MfWNlvF3+KD7koA==',
  },
  {
    name: 'docsify-cli',
    version: '5.0.0',
    integrity:
      'sha512-ngXhuna3eZEofOveef+nK9yPxubHgTyc01/V35Mw99Vkx8YvoT00HOuNH67N0qVW6ITfOTa43QWSOZeqohTQjw==',
  },
  {
    name: 'verdaccio',
    version: '6.10.4',
    integrity:
      'sha512-2XjsxiH/ZYWjefbVLY854mo+lz1M14mdhx/tI1278aVXN/D9dTflpw0T6w1oi6WChMLhRogTnz8blL36Ys/dhQ==',
  },
  {
    name: 'sqlpad',
    version: '3.1.0',
    integrity:
      'sha512-hSPtlCmOO0BV60sgMNngEPMp7LI4QNkRiWx0PvTUswuTRTXp2n/ddkJCLlMd5qD8o1pManSnERwL1wzLeGAlnw==',
  },
  {
    name: 'thelounge',
    version: '4.5.2',
    integrity:
      'sha512-ExVoicVGVaqzKTCch2KYf2SceNLrj4vs2BvvFqsPidnQyV8bIHrli33F/2gUzaRVdcj6jCUPIHVITw3TwFSU/A==',
  },
  {
    name: 'pouchdb-server',
    version: '4.2.0',
    integrity:
      'sha512-5dES3H3oet3cqrC6amYUwJ05E03n3eWTg6obb/o94nZNc8sEBl8m6DM0p5ah9/3WGfaRRWS9U2BCEsEkf16hhg==',
  },
  {
    name: 'ungit',
    version: '1.5.30',
    integrity:
      'sha512-ylsDoXiE64BJa71xjNFAVTQYIGpAaZnWsMZwDhZxk2fq5MIEm+9wYZU84+VGi1Gqv+E4K9JclN69bnk1SoXDjQ==',
  },
  {
    name: 'cloudcmd',
    version: '19.19.1',
    integrity:
      'sha512-cAZk+HJkaKkV4RfFNPm4CMhI2bZeXTNIYPuoxhiRE++ScU1FoAaZ1XzHiu65VVKygCl7FKwircefnJg/RsFOTA==',
  },
  {
    name: 's3rver',
    version: '3.7.1',
    integrity:
      'sha512-H9KIX6n8NqcfoE4ziFNbQASBQfjcNJgb+3wbT9L5iotEqfOncFO1c38cfJSFSo7xXTu1zM9HA6t2u9xKNlYRaA==',
  },
  {
    name: 'dynalite',
    version: '4.0.0',
    integrity:
      'sha512-EIDzWEhyz4XT4tDuDTrp8rAV3pOyOf2ETg7htxhERQfJ7B5CPrQNMS9Un9PVCiXM5WVN1w0CxgHXztP8LqT+SA==',
  },
  {
    name: 'anyproxy',
    version: '4.1.3',
    integrity:
      'sha512-p3scfKosPo9eayAcBD1pfIycuFeDnGxa9hZ5Vc0r5geSQp+fTRFq/S+knrUgp9e716nHwbqlYHQPny8dtF+MOA==',
  },
  {
    name: 'prerender',
    version: '5.21.6',
    integrity:
      'sha512-75jGsgzWvljb2iKK/a7G+7KeAQORtqg19R9IdpnXgibNeSXFAN2JFq3G3CSpyaEus02d9OevXJzu9yUQZt+cqg==',
  },
  {
    name: 'express-gateway',
    version: '1.16.11',
    integrity:
      'sha512-lRwScLAoWmGU951moS82UXRF3D1I1U4tgqgDKDen/pnLidWnl+SUAalOYHYq0txZKmnVBJE2TeqR8M8vnH63Zg==',
  },
  {
    name: 'wiki-server',
    version: '0.27.0',
    integrity:
      'sha512-zhPIVCeMAh2Yfpjl0Fm1IiX0YfaYiqmfOywW4SKpsJ/GWiMftnEK/KT5H4QcSk00rXuTJk7xYDWuoIAUS5/uiA==',
  },
  {
    name: 'solid-server',
    version: '6.0.0',
    integrity:
      'sha512-MReYeJl9171aLjkMgdgG9tI6yMPBDOQGiKe/KvQblgHUf06ABZyzvVjNKCuYL13SwR8oEGnwCJ/vSgZgWWxDnA==',
  },
  {
    name: 'whistle',
    version: '2.10.10',
    integrity:
      'sha512-NwB138vmB8bPaJvJpB4V13y8y7nRpiF2Pq2ZB8RQtDMs2x7O8BRyVuoww0zaSaLAZLcXZAlu3OtI4s1iAI1Vyw==',
  },
  {
    name: 'dyson',
    version: '4.1.0',
    integrity:
      'sha512-DZWbPV5b43cK1yUd5l43pzi41llKm7Ug9hFZWBtqSxDQoRuXBO/I1DpF/xIh0VUbu19GsHI+nKeQ3NaLeRcsvg==',
  },
  {
    name: 'local-web-server',
    version: '5.4.0',
    integrity:
      'sha512-FkQT6ZuX+8ywks3Mol5nHtuKzf+Rhtp88PPJUkcU0fP6JzNi7s9a+dWRQ8WrCxlGe3vHij85A4R1uL4wRg06WA==',
  },
  {
    name: 'json-graphql-server',
    version: '3.3.2',
    integrity:
      'sha512-iC627a1djn8H4GkIqfFXYWhHQREDeo+w+DFAgpTQL3SKnkbWZaFvFMoPdrJV3XfPJzgElXIxNGY5nNgSoYMmcQ==',
  },
  {
    name: 'parse-dashboard',
    version: '5.4.0',
    integrity:
      'sha512-HBBkPbKcsBYUQcm8HCNsPe+Su1SoDDDHe2QfglMK/SqwMeSeSczFCKSBYhJa77P4U6E3utcIF6he9rqQtEUpfQ==',
  },
  {
    name: 'express-pouchdb',
    version: '4.2.0',
    integrity:
      'sha512-UHA2q/A+rIEptefwBODTlH42PoaRro7eAnupztaBdoZofTXdaUcDcVZ1/QrwGeewGJLNf6+1Oia7wO4IX+rSew==',
  },
  {
    name: 'kue',
    version: '0.11.6',
    integrity:
      'sha512-56Jic22qSqdJ3nNpkhVr6RUx/QKalfdBdU0m70hgBKEkhBAgdt6Qr74evec+bM+LGmNbEC6zGGDskX4mcgBYcQ==',
  },
  {
    name: 'signalhub',
    version: '4.9.0',
    integrity:
      'sha512-qi5uv7vYIbpVyIeDH5tJdIAmrQkXdK1D75QL4otFgJNGBVACE6/pYh9Dl8NQexCy8J2XWtK+TJjQRJptkE1cpw==',
  },
  {
    name: 'sinopia',
    version: '1.4.0',
    integrity:
      'sha512-bNOjkYILmVgEpNOdG3MtU5/kinzN/93Nadh6Nk1v5kEUH3elvXUDxUnfWsWfkWMIiNDloDYo6iFuZJrHwt8lXQ==',
  },
  {
    name: 'stubby',
    version: '5.1.1',
    integrity:
      'sha512-SJxN09Ecy1oha3tazotbdStbhHiQqYpx8k/fBhXxrB4QBWPZrAEpTu1vWBPiifd2mcKrQR4WJH7vajcZolB1Pw==',
  },
  {
    name: '@bull-board/express',
    version: '9.10.1',
    integrity:
      'sha512-sUXrFAwbllDNGyieB51Xr7bFa+f7uPdWWPMcArROYlAXsZqrG0HyRPf81bpCX8ZnBGTUcbsEq9jSdRpEfbqm7g==',
  },
  {
    name: '@scalar/mock-server',
    version: '0.14.4',
    integrity:
      'sha512-KHvc6GTmTjqd9owIoGOr07CQUMPvBsgaaVl+vvkYQWjw0IQxmhceMsn6drw9898ccs4j4/INMcB+9nMVH1l8Rg==',
  },
  {
    name: 'koa-mock-server',
    version: '0.7.2',
    integrity:
      'sha512-zJ6VEtTF0ahB0nF21AOhT+tddt9eM6/oTuaMndbfJj8GikWtX14lkBDbCjabBtZeq31FjOHcB4KcvsqaTkjFXA==',
  },
  {
    name: 'smtp-tester',
    version: '2.1.0',
    integrity:
      'sha512-HfOBdHkdwoBO+Qb06H8ShVEc08nnvDbtYWzdT5iQMIeInBdLKu17XOhuaC79uM24zPApRfN3JAg627TIy3y/Ww==',
  },
  {
    name: 'log.io',
    version: '0.3.4',
    integrity:
      'sha512-MvHbmc8mcIOQ6WItODP2dLlDxmlTK8y4j6f/cj5qM71Lrn/IUB/uFzn4Bxhi1Y2HX0Pxy2wxyECP7b/ExgtbGA==',
  },
  {
    name: 'slackin',
    version: '0.13.0',
    integrity:
      'sha512-8OzQPPvVoNRHDX5t6bYzUtadEsKnFgBTLF5ZTgv/7xyiyOlM6SDNdNJK6fpjVtMW8FpkDkO5OQKGlW0Lh+BOKg==',
  },
  {
    name: 'ws-tcp-bridge',
    version: '1.0.0',
    integrity:
      'sha512-fLi5O1LS5RCxQOQIk9HQrhJl3ChI4yGXtdnW8MQq2OLnCYaYGjKL+LJOyCAe6czDugOYyHakTnhVY2fkhPe/Dg==',
  },
  {
    name: 'tileserver-gl-light',
    version: '5.6.0',
    integrity:
      'sha512-a/jmgtTHRM2k9+uyPGsXXo8LsuES7Kjyx9hNWd8c575Y04Jr9VEpKneD0tlc3w+6jNodenrsA1BmB4vm+LK4AA==',
  },
  {
    name: 'json-mock-api',
    version: '1.2.2',
    integrity:
      'sha512-kSlq0+4WtPS/HUiJlFpeIkzua579/eC8slywk078ZHEd24H7A641j0r+mPY5LA1rVzp/6RwoqUFm7AvvfAciUQ==',
  },
  {
    name: '@google-cloud/functions-framework',
    version: '5.0.5',
    integrity:
      'sha512-/w+OB1MxJux1uO9KRud4CRPLouaB7bZcy0v6STfFVh7yqafZ1L5coWIpseoKPLUgyNfawyoEfE2mEBDRZNGL2w==',
  },
  {
    name: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    integrity:
      'sha512-5U3OZh8Xq0Li4nA26l6uNvV9/1suMDuWSn+NjLZIhzinhMY6N3A4DCrxVecBGPf2PsNFKTEv5krxGPRwzxc7jQ==',
  },
  {
    name: 'mockserver',
    version: '3.1.1',
    integrity:
      'sha512-VYozi451X9xcFIVaAlo8NtmYzh9uI76UfZKuAS1/bMZ65GXLKfbzuClS/SsDG2A3BDStI2/5JAUZkhz79weBXA==',
  },
  {
    name: 'sirv-cli',
    version: '3.0.1',
    integrity:
      'sha512-ICXaF2u6IQhLZ0EXF6nqUF4YODfSQSt+mGykt4qqO5rY+oIiwdg7B8w2PVDBJlQulaS2a3J8666CUoDoAuCGvg==',
  },
  {
    name: 'spa-http-server',
    version: '0.9.0',
    integrity:
      'sha512-weF1xcWI3JaI6XltUaosYKZVLVX1E4zFU3kKCMWnaGyqW/G0yngNgU+xh8JPQkYhlnxY72yJBr1m3lUO/KF/uw==',
  },
]
