internal import QueryLanguage

// What queries need to know of managed objects.

extension QueriedObject where Self: ManagedObject {
    package static var identification: AnyKeyPath { \Self.objectID }
}

extension ManagedObject: QueriedObject {}
extension ManagedObjectID: ObjectReference {}
