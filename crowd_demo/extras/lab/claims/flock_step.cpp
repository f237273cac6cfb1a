// The limit: one flock step in C with AVX-512 intrinsics (counting sort with fused gather, 16 lanes, each candidate broadcast), float sums.
// A yardstick; `against_c.py` compiles it and runs it beside the program.
//   g++ -O3 -march=native -mprefer-vector-width=512 -ffast-math -fopenmp -DV=3 -DSUB=1 flock_step.cpp -o flock_step      (V=0: plain sums, V=3: folded)
//   ./flock_step AGENTS THREADS STEPS        prints JSON: ms_med, ms_min, sort, kern; 4 agents a cell of the radius, 12.6 neighbours each
#include <immintrin.h>
#include <sys/mman.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <chrono>
#include <vector>
#include <algorithm>
#include <omp.h>
#ifndef SUB
#define SUB 4
#endif
#ifndef V
#define V 1
#endif
static double now(){return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();}
static const float wc=.01f,wa=.05f,ws=.1f,vmin=20,vmax=60,dt=1.f/60,R2=256,A2=25,CW=16.f/SUB;
struct S{float*x,*y,*u,*v,*c,*d;};
static float*al(size_t n){size_t b=((n+64)*4+(2<<20)-1)/(2<<20)*(2<<20);float*p=(float*)aligned_alloc(2<<20,b);madvise(p,b,MADV_HUGEPAGE);memset(p,0,b);return p;}
static int N,T,GW,GH;static float side;
static inline __m512 rsq(__m512 s){__m512 r=_mm512_rsqrt14_ps(s);return _mm512_mul_ps(r,_mm512_fnmadd_ps(_mm512_mul_ps(_mm512_mul_ps(s,r),r),_mm512_set1_ps(.5f),_mm512_set1_ps(1.5f)));}
#if V==2||V==4
#include "strip16.inc"
#else
// one strip row cy of sorted agents S -> new unsorted state D
static void strip(const S&s,const S&o,const int*__restrict st,int cy,int*cellout,int*hist){
 const float*__restrict px=s.x,*__restrict py=s.y,*__restrict pu=s.u,*__restrict pv=s.v,*__restrict pc=s.c;const float*__restrict pd=s.d;
 int ry0_=cy>0?cy-1:0,ry1_=cy+1<GH?cy+1:GH-1;
#if V==3
 static thread_local std::vector<float> lb;int base=st[ry0_*GW],m_=st[(ry1_+1)*GW]-base;size_t cap=(m_+79)/16*16;if(lb.size()<2*cap)lb.resize(3*cap);float*lc=lb.data(),*ld=lc+cap;
 for(int k=0;k<m_;k+=16){__m512 x=_mm512_loadu_ps(px+base+k),y=_mm512_loadu_ps(s.y+base+k),u=_mm512_loadu_ps(s.u+base+k),v=_mm512_loadu_ps(s.v+base+k);
  _mm512_storeu_ps(lc+k,_mm512_fmadd_ps(_mm512_set1_ps(wc),x,_mm512_mul_ps(_mm512_set1_ps(wa),u)));_mm512_storeu_ps(ld+k,_mm512_fmadd_ps(_mm512_set1_ps(wc),y,_mm512_mul_ps(_mm512_set1_ps(wa),v)));}
 pc=lc-base;pd=ld-base;
#endif
 int b0=st[cy*GW],e0=st[cy*GW+GW];const __m512 r2=_mm512_set1_ps(R2),a2=_mm512_set1_ps(A2),one=_mm512_set1_ps(1);
 int ry0=cy>0?cy-1:0,ry1=cy+1<GH?cy+1:GH-1;
 for(int i=b0;i<e0;i+=16){int cnt=e0-i<16?e0-i:16;__mmask16 live=(1u<<cnt)-1;
  int c0=(int)(px[i]*(1/CW)),c1=(int)(px[i+cnt-1]*(1/CW));c0=c0-SUB<0?0:c0-SUB;c1=c1+SUB>=GW?GW-1:c1+SUB;
  __m512 X=_mm512_loadu_ps(px+i),Y=_mm512_loadu_ps(py+i);
  __m512 n=_mm512_setzero_ps(),sx=n,sy=n,su=n,sv=n,ax=n,ay=n;
  for(int ry=ry0;ry<=ry1;ry++){int j=st[ry*GW+c0],e=st[ry*GW+c1+1];
#define BODY(j) {__m512 dx=_mm512_sub_ps(X,_mm512_set1_ps(px[j])),dy=_mm512_sub_ps(Y,_mm512_set1_ps(py[j]));\
   __m512 d2=_mm512_fmadd_ps(dx,dx,_mm512_mul_ps(dy,dy));__mmask16 m=_mm512_cmp_ps_mask(d2,r2,_CMP_LT_OQ),q=_mm512_cmp_ps_mask(d2,a2,_CMP_LT_OQ);\
   n=_mm512_mask_add_ps(n,m,n,one);ACC\
   ax=_mm512_mask_add_ps(ax,q,ax,dx);ay=_mm512_mask_add_ps(ay,q,ay,dy);}
#if V==0
#define ACC sx=_mm512_mask_sub_ps(sx,m,sx,dx);sy=_mm512_mask_sub_ps(sy,m,sy,dy);su=_mm512_mask_add_ps(su,m,su,_mm512_set1_ps(pu[j]));sv=_mm512_mask_add_ps(sv,m,sv,_mm512_set1_ps(pv[j]));
#else
#define ACC sx=_mm512_mask_add_ps(sx,m,sx,_mm512_set1_ps(pc[j]));sy=_mm512_mask_add_ps(sy,m,sy,_mm512_set1_ps(pd[j]));
#endif
#ifdef UNR
   for(;j+1<e;j+=2){BODY(j)BODY(j+1)}
#endif
   for(;j<e;j++)BODY(j)
  }
  __m512 U=_mm512_loadu_ps(pu+i),W=_mm512_loadu_ps(pv+i);__mmask16 has=_mm512_cmp_ps_mask(n,_mm512_set1_ps(1.5f),_CMP_GT_OQ);
  __m512 q=_mm512_div_ps(one,_mm512_max_ps(n,one)),a,b;
#if V==0
  a=_mm512_fmadd_ps(_mm512_set1_ps(wc),_mm512_mul_ps(sx,q),_mm512_mul_ps(_mm512_set1_ps(wa),_mm512_fmsub_ps(su,q,U)));
  b=_mm512_fmadd_ps(_mm512_set1_ps(wc),_mm512_mul_ps(sy,q),_mm512_mul_ps(_mm512_set1_ps(wa),_mm512_fmsub_ps(sv,q,W)));
#else
  a=_mm512_fmsub_ps(sx,q,_mm512_loadu_ps(pc+i));b=_mm512_fmsub_ps(sy,q,_mm512_loadu_ps(pd+i));
#endif
  a=_mm512_fmadd_ps(_mm512_set1_ps(ws),ax,a);b=_mm512_fmadd_ps(_mm512_set1_ps(ws),ay,b);
  U=_mm512_mask_add_ps(U,has,U,a);W=_mm512_mask_add_ps(W,has,W,b);
  __m512 s2=_mm512_fmadd_ps(U,U,_mm512_fmadd_ps(W,W,_mm512_set1_ps(1e-12f)));__m512 ir=rsq(s2);__m512 sp=_mm512_mul_ps(s2,ir);
  __m512 t=_mm512_mul_ps(_mm512_min_ps(_mm512_max_ps(sp,_mm512_set1_ps(vmin)),_mm512_set1_ps(vmax)),ir);U=_mm512_mul_ps(U,t);W=_mm512_mul_ps(W,t);
  X=_mm512_fmadd_ps(U,_mm512_set1_ps(dt),X);Y=_mm512_fmadd_ps(W,_mm512_set1_ps(dt),Y);
  __m512 Z=_mm512_setzero_ps(),L=_mm512_set1_ps(side),L2=_mm512_set1_ps(2*side);
#define REF(P,Q) {__mmask16 k=_mm512_cmp_ps_mask(P,Z,_CMP_LT_OQ);P=_mm512_mask_sub_ps(P,k,Z,P);Q=_mm512_mask_sub_ps(Q,k,Z,Q);k=_mm512_cmp_ps_mask(P,L,_CMP_GT_OQ);P=_mm512_mask_sub_ps(P,k,L2,P);Q=_mm512_mask_sub_ps(Q,k,Z,Q);}
  REF(X,U)REF(Y,W)
  _mm512_mask_storeu_ps(o.x+i,live,X);_mm512_mask_storeu_ps(o.y+i,live,Y);_mm512_mask_storeu_ps(o.u+i,live,U);_mm512_mask_storeu_ps(o.v+i,live,W);
  // fused: next step's cell index
  __m512i cx=_mm512_min_epi32(_mm512_cvttps_epi32(_mm512_mul_ps(X,_mm512_set1_ps(1/CW))),_mm512_set1_epi32(GW-1));
  __m512i cyv=_mm512_min_epi32(_mm512_cvttps_epi32(_mm512_mul_ps(Y,_mm512_set1_ps(1/16.f))),_mm512_set1_epi32(GH-1));
  _mm512_mask_storeu_epi32(cellout+i,live,_mm512_add_epi32(_mm512_mullo_epi32(cyv,_mm512_set1_epi32(GW)),cx));
 }
}
#endif
int main(int ac,char**av){N=atoi(av[1]);T=atoi(av[2]);int steps=ac>3?atoi(av[3]):30;float per=ac>4?atof(av[4]):4;side=sqrtf(N/per)*16;omp_set_num_threads(T);
 GH=(int)(side/16)+1;GW=(int)(side/CW)+1;int nc=GW*GH;S A,B;for(S*s:{&A,&B}){s->x=al(N);s->y=al(N);s->u=al(N);s->v=al(N);s->c=al(N);s->d=al(N);}
 int*cell=(int*)al(N),*st=(int*)al(nc+16),*hist=(int*)al((size_t)nc*T+64);srand(1);
 for(int i=0;i<N;i++){A.x[i]=rand()/(RAND_MAX+1.f)*side;A.y[i]=rand()/(RAND_MAX+1.f)*side;A.u[i]=rand()/(float)RAND_MAX*100-50;A.v[i]=rand()/(float)RAND_MAX*100-50;
  int cx=std::min((int)(A.x[i]*(1/CW)),GW-1),cy=std::min((int)(A.y[i]*(1/16.f)),GH-1);cell[i]=cy*GW+cx;}
 std::vector<double>t1,t2,tt;
 for(int f=0;f<steps;f++){double t=now();
  #pragma omp parallel num_threads(T)
  {int k=omp_get_thread_num();int lo=(long)N*k/T,hi=(long)N*(k+1)/T;int*h=hist+(size_t)k*nc;memset(h,0,nc*4);
   for(int i=lo;i<hi;i++)h[cell[i]]++;
   #pragma omp barrier
   #pragma omp single
   {int s=0;if(T==1){for(int c=0;c<nc;c++){st[c]=s;int q=hist[c];hist[c]=s;s+=q;}}
    else for(int c=0;c<nc;c++){st[c]=s;int q=hist[c];hist[c]=s;s+=q;q=hist[nc+c];hist[nc+c]=s;s+=q;}
    st[nc]=s;}
   for(int i=lo;i<hi;i++){int p=h[cell[i]]++;float x=A.x[i],y=A.y[i],u=A.u[i],v=A.v[i];B.x[p]=x;B.y[p]=y;B.u[p]=u;B.v[p]=v;
#if V==1
    B.c[p]=wc*x+wa*u;B.d[p]=wc*y+wa*v;
#elif V==2
    ((int*)B.c)[p]=pk(x,y,64);((int*)B.d)[p]=pk(wc*x+wa*u,wc*y+wa*v,512);
#endif
   }
  }
  double t_=now();
  #pragma omp parallel for schedule(dynamic,4) num_threads(T)
  for(int cy=0;cy<GH;cy++)strip(B,A,st,cy,cell,0);
  double t3=now();t1.push_back(t_-t);t2.push_back(t3-t_);tt.push_back(t3-t);}
 double chk=0;for(int i=0;i<N;i++)chk+=A.x[i];auto med=[](std::vector<double>v){v.erase(v.begin(),v.begin()+3);std::sort(v.begin(),v.end());return v[v.size()/2]*1e3;};
 auto mn=[](std::vector<double>v){v.erase(v.begin(),v.begin()+3);return *std::min_element(v.begin(),v.end())*1e3;};
 printf("{\"sys\":\"C-limit V%d SUB%d%s\",\"N\":%d,\"T\":%d,\"ms_med\":%.3f,\"ms_min\":%.3f,\"sort\":%.3f,\"kern\":%.3f,\"ns_agent_min\":%.2f,\"chk\":%.1f}\n",V,SUB,
#ifdef UNR
 " unr2",
#else
 "",
#endif
 N,T,med(tt),mn(tt),mn(t1),mn(t2),mn(tt)*1e6/N,chk);}
