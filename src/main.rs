//! x
use polyfly::*;
fn main(){
 let a: Vec<String> = std::env::args().collect();
 let text = std::fs::read_to_string(&a[1]).unwrap();
 let mut p = scene::parse(&text,&a[1],std::path::Path::new(""),scene::tokens::SOLIDS).map_err(|e|{eprintln!("{e}");std::process::exit(65)}).unwrap();
 let s=&mut p.scene;
 if let Some(x)=a.get(3) { let (w,h)=x.split_once('x').unwrap(); s.width=w.parse().unwrap(); s.height=h.parse().unwrap(); }
 if let Some(x)=a.get(4) { s.samples=x.parse().unwrap(); }
 let n: u32 = a.get(5).map_or(0,|x|x.parse().unwrap());
 if let Some(f)=s.floor.as_mut() { if f.texture.is_some() { f.texture=Some(scene::TextureSource::parse("@checker",std::path::Path::new("")).unwrap().unwrap()); } }
 let t = s.floor.as_ref().and_then(|f|f.texture.as_ref()).map(|t|texture::Texture::load(t).unwrap());
 let l = layout::Layout::new(s,t.as_ref());
 let t0=std::time::Instant::now();
 let threads = std::env::var("THREADS").ok().map_or(0,|x|x.parse().unwrap());
 let cpu = device::cpu::Cpu::new(device::cpu::Isa::pick().unwrap(),threads,s,l).unwrap();
 eprintln!("{:?} setup {:?}",cpu.isa(),t0.elapsed());
 let mut v=Vec::new();
 for i in 0..5 { let st=cpu.render(&layout::frame(s,n+i),&mut v); eprintln!("{st:?} {:.1} Mrays/s {:.1} with shadows", st.rays as f64/st.time.as_secs_f64()/1e6, (st.rays+st.shadow_rays) as f64/st.time.as_secs_f64()/1e6); if i==0 {
 image::save_buffer(&a[2],&v,s.width,s.height,image::ColorType::Rgba8).unwrap(); } }
}
