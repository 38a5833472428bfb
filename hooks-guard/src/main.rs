//! x
fn main(){ let mut bad=0; let mut n=0; for line in std::io::stdin().lines() { let line=line.unwrap(); let v:serde_json::Value=serde_json::from_str(&line).unwrap(); let c=v["command"].as_str().unwrap(); let r=hooks_guard::classify::try_parse(c); n+=1; if r!="agreed" { bad+=1; println!("{c}\n   {r}"); } } println!("{bad} of {n}"); }
