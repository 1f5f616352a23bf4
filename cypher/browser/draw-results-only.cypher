// 00 Draw results only
// Run once; Browser remembers it. Otherwise it adds every relationship between the nodes of a
// picture, often hundreds. To have that back: :config {autoComplete: true}
:config {autoComplete: false}
