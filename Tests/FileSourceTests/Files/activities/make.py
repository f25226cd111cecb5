# Writes the FIT files of this folder after the protocol: python3 make.py . ; fitdecode 0.11.0 and garmin-fit-sdk 21.218.0 read them as the tests say.
import struct,sys
EPOCH=631065600
def crc(b):
    v=0
    for o in b:
        v^=o
        for _ in range(8): v=(v>>1)^0xA001 if v&1 else v>>1
    return v
T={'enum':(0x00,'B'),'u8':(0x02,'B'),'s8':(1,'b'),'u16':(0x84,'H'),'s16':(0x83,'h'),'u32':(0x86,'I'),'s32':(0x85,'i'),'u32z':(0x8C,'I')}
class F:
    def __init__(s,big=False): s.d=b'';s.e='>' if big else '<';s.big=big
    def define(s,local,msg,fields,dev=()):
        s.fields=getattr(s,'fields',{}); s.fields[local]=(fields,dev)
        h=0x40|local|(0x20 if dev else 0)
        s.d+=bytes([h,0,1 if s.big else 0])+struct.pack(s.e+'H',msg)+bytes([len(fields)])
        for n,t in fields:
            if t.startswith('str'): s.d+=bytes([n,int(t[3:]),7])
            else: s.d+=bytes([n,struct.calcsize(T[t][1]),T[t][0]])
        if dev:
            s.d+=bytes([len(dev)])
            for n,size,ix in dev: s.d+=bytes([n,size,ix])
    def data(s,local,values,dev=b'',comp=None):
        s.d+=bytes([local if comp is None else 0x80|local<<5|comp])
        for (n,t),v in zip(s.fields[local][0],values):
            if t.startswith('str'): s.d+=v.encode().ljust(int(t[3:]),b'\0')
            else: s.d+=struct.pack(s.e+T[t][1],v)
        s.d+=dev
    def file(s,size=14):
        h=bytes([size,0x20])+struct.pack('<HI',2132,len(s.d))+b'.FIT'
        if size==14: h+=struct.pack('<H',crc(h))
        b=h+s.d
        return b+struct.pack('<H',crc(b))
def t(s):
    import datetime
    return int(datetime.datetime.fromisoformat(s+'+00:00').timestamp())-EPOCH
def run(big=False,size=14):
    f=F(big); t0=t('2026-05-02T08:00:00')
    f.define(0,0,[(0,'enum'),(1,'u16'),(2,'u16'),(3,'u32z'),(4,'u32')]); f.data(0,[4,1,3121,3123456789,t0])
    f.define(1,21,[(253,'u32'),(0,'enum'),(1,'enum')]); f.data(1,[t0,0,0])
    f.define(2,20,[(253,'u32'),(0,'s32'),(1,'s32'),(2,'u16'),(3,'u8'),(4,'u8'),(5,'u32'),(6,'u16'),(7,'u16'),(53,'u8')])
    deg=lambda d: round(d*2**31/180)
    f.data(2,[t0,deg(52.5162746),deg(13.3777041),round((34.2+500)*5),112,80,0,6500,180,64])
    f.data(2,[t0+30,deg(-33.8567844),deg(-151.2152967),round((34.4+500)*5),128,0xFF,21000,0xFFFF,0xFFFF,0xFF])
    # a developer's field, and no place
    f.define(3,20,[(253,'u32'),(3,'u8')],dev=[(0,2,0)]); f.data(3,[t0+31,129],dev=b'\x01\x02')
    f.data(1,[t0+60,0,4])
    f.data(1,[t0+120,0,0])
    # the time in the header: 121 s after the start
    f.define(2,20,[(3,'u8')]); f.data(2,[133],comp=(t0+121)&0x1F)
    f.define(4,19,[(253,'u32'),(2,'u32'),(7,'u32'),(8,'u32'),(9,'u32'),(11,'u16'),(15,'u8'),(16,'u8')])
    f.data(4,[t0+60,t0,60000,60000,40050,12,121,128]); 
    f.define(5,78,[(0,'u16')]); f.data(5,[812])
    f.data(4,[t0+150,t0+120,30500,30500,20025,8,130,133])
    f.data(1,[t0+150,0,4])
    f.define(6,18,[(253,'u32'),(2,'u32'),(5,'enum'),(6,'enum'),(7,'u32'),(8,'u32'),(9,'u32'),(11,'u16'),(16,'u8'),(17,'u8')])
    f.data(6,[t0+151,t0,2,7,150500,90500,60075,20,124,133])
    f.define(7,34,[(253,'u32'),(5,'u32'),(1,'u16')]); f.data(7,[t0+151,t0+151+7200,1])
    return f.file(size)
def multi():
    f=F(); t0=t('2026-06-01T06:00:00')
    f.define(0,0,[(0,'enum'),(1,'u16'),(8,'str12')]); f.data(0,[4,32,'ELEMNT'])
    f.define(2,20,[(253,'u32'),(3,'u8'),(7,'u16')])
    f.define(6,18,[(253,'u32'),(2,'u32'),(5,'enum'),(6,'enum'),(7,'u32')])
    f.data(2,[t0,100,0xFFFF]); f.data(2,[t0+600,140,0xFFFF]); f.data(2,[t0+700,141,220])
    f.data(6,[t0+1300,t0+700,1,0,600000]); f.data(6,[t0+600,t0,5,18,600000]); f.data(6,[t0+1400,t0+1400,4,15,60000])
    return f.file(12)
def other(kind):
    f=F(); f.define(0,0,[(0,'enum'),(1,'u16')]); f.data(0,[kind,1]); return f.file()
def nosession():
    f=F(); t0=t('2026-06-01T06:00:00')
    f.define(0,0,[(0,'enum'),(1,'u16')]); f.data(0,[4,9999])
    f.define(2,20,[(253,'u32'),(3,'u8')]); f.data(2,[t0,100]); f.data(2,[12345,101])
    return f.file()
d=sys.argv[1]
for n,b in {'ride':run(),'ride-big-endian':run(True,12),'multisport':multi(),'settings':other(2),'no-session':nosession()}.items():
    open(f'{d}/{n}.fit','wb').write(b)
open(f'{d}/chained.fit','wb').write(run()+multi())
