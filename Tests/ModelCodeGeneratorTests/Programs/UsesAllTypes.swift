// Uses what was generated from AllTypes and prints what it found; a test compiles, runs and reads it.
import CoreDataSource
import Foundation

@main struct UsesAllTypes {
    static func main() {
        let place = Place()
        print("a new place:", place.address == nil, place.origin == Coordinate(latitude: 0, longitude: 0))
        let day = Date(timeIntervalSinceReferenceDate: 1)
        let coordinate = Coordinate(latitude: 1, longitude: 2, measured: day)
        let address = Address(class: "b", coordinate: coordinate, street: "Main Street", tags: ["x"])
        place.address = address
        place.origin = coordinate
        place.title = "Home"
        print("read back:", place.address == address, place.origin == coordinate, place.title)
        let columns: [String] = [place.attribute(at: 0), place.attribute(at: 4)]
        print("columns:", columns, place.attribute(at: 3) as Date == day, place.attribute(at: 10) as String)
        place.address = Address(street: "")
        print("zero is not nil:", place.address != nil, place.address?.coordinate == nil)
        place.address = nil
        print("nil again:", place.address == nil, place.origin == coordinate)

        let child = Child()
        child.nickname = "Al"
        print("after inherited columns:", child.attribute(at: 4) as String)
        print(
            "inherited key paths:", Child.attributeKeyPaths[\Child.createdAt] ?? "none", Child.attributeKeyPaths.count)
        print("a key path of the parent:", Child.attributeKeyPaths[\Parent.name] ?? "none")
        let names = Keywords.attributeKeyPaths
        print("names:", names[\Keywords.`class`] ?? "none", names[\Keywords.self_] ?? "none")

        let model = ManagedObjectModel.allTypes
        print("classes:", model.classes.count, model.classes["Child"] == Child.self)
        print("model:")
        dump([model.entities, model.composites, model.fetchRequests, model.configurations] as [Any])
    }
}
