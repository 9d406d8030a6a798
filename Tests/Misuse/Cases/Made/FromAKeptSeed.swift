// error: 'seed' is borrowed and cannot be consumed
import CoreDataSource

final class Twin: ManagedObject {
    let kept: Box

    required init(_ seed: borrowing ManagedObjectSeed) {
        kept = Box(seed)
        super.init(seed)
    }
}

final class Box {
    let seed: ManagedObjectSeed

    init(_ seed: consuming ManagedObjectSeed) {
        self.seed = seed
    }
}
