// `npm run accuracy -- cloth [--json]`
// `npm run accuracy -- crown [--json] [--method ellipsoid,prism,cone,alpha] [--group ellipsoid,sphere,cone,prism,paraboloid,real_tropical]`
// `npm run accuracy -- dem`
// `npm run accuracy -- denoise [--json] [--method ror,voxel_count,sor,auto] [--group plot,trails,tracer,tls,room,indoor,als,unseen]`
// `npm run accuracy -- denoise-sensitivity [--json] [--method CONSTANT,..] [--group plot,trails,tracer,tls,room,indoor,als,unseen]`
// `npm run accuracy -- ground [--json] [--method auto,smrf,cloth,derived] [--group isprs,als,tls,relief,forest,walked,thicket,bare]`
// `npm run accuracy -- ground-sensitivity [--json] [--method CONSTANT,..] [--group isprs,als,tls,relief,forest,walked,thicket,bare]`
// `npm run accuracy -- surfaces [--json] [--method delaunay,alpha_shape] [--group sphere,torus,saddle,hole,boxes,cylinder,real]`
// `npm run accuracy -- registration [--json] [--method gicp,point_to_plane,point_to_point,auto,astray,pcl_plane,pcl_gicp] [--group maize,room1_o70,..]`
// `npm run accuracy -- reconstruction [--json] [--method poisson,ball_pivoting,pcl_greedy] [--group sphere,torus,boxes,saddle,hole,cylinder]`
// `npm run accuracy -- round-trip [--json] [--method las,laz] [--group las/formats,als,..]`
// `npm run accuracy -- rooms [--json] [--method ball_pivoting,poisson,alpha_shape] [--group even,rows_5,rows_5_noisy,..]`
// `npm run accuracy -- trees [--json] [--method nearest_stem,chm,default,auto] [--group apart_1,apart_4,apart_9,interlocked_1,..]`
// `npm run accuracy -- prospect [--json] [--method full,likelihood,windowed] [--group "forward,abs box,own typical,.."]`
// `npm run accuracy -- inventory [--json] [--method ransac,hough] [--group single,composite,reference]`
// `npm run accuracy -- photos [--json] [--group apart_filled,apart_gaps,apart_laser,interlocked_filled,..]`
// `npm run accuracy -- storms [--json] [--group storm_1,storm_2,storm_3,coppice_1,..]`
// `npm run accuracy -- heights [--json] [--method 4,1] [--group apart,interlocked,understorey,slope,rows]`
// `npm run accuracy -- water [--json] [--method tripods,air] [--group pond,river,lake]`
// `npm run accuracy -- rocks [--json] [--method tripods,air] [--group boulders,cliff,terraces,ruins,bare,slope60,slope100]`
// `npm run accuracy -- clad [--json] [--group bare,ivy_thin,ivy_half,ivy_dense,ivy_full,ivy_low,shelter,stakes,guard,sign,limbs,slope100,slope60]`
// `npm run accuracy -- thick [--json] [--group giant,old_oak,buttressed,fluted,mangrove,baobab]`
// `npm run accuracy -- orchards [--json] [--method auto,chm] [--group almond_tripods,almond_walk,almond_drone,apple_tripods,..]`
// `npm run accuracy -- trees-plots [--json] [--group open_11,slope20_13,dense_12,composite_plot_a]`
// `npm run accuracy -- stems [--json] [--group open_11,dense_12,slope20_13,simulated,apart_1,apart_4,..]`
// `npm run accuracy -- trees-reference [--json] [--method default,parameters] [--group lpine1,comp_a,compB,plotA,plotB]`
// `npm run accuracy -- plants [--json] [--method expected,reference] [--group bean,maize,..]`
// `npm run accuracy -- all [PART ..] [--out build/accuracy]`: all parts one by one, a file each; goes on where it was ended
import { register } from "tsx/esm/api";

register();
await import("../test/accuracy/main.ts");
